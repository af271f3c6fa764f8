"""Limits chosen from ladders: noisy histograms, over rungs √2 apart, of what each unit contributes.

A ladder is paid for once; what is done with it here is post-processing, which costs nothing. Floats
are fine, therefore: what a release rests on is the limit that is chosen, an exact rung, enforced.

| module        | what it defines                                                |
| ------------- | -------------------------------------------------------------- |
| rungs         | the √2 ladder of a grid                                        |
| ladder        | a ladder, and its top                                          |
| lattice       | fixed draws that stand for a posterior                         |
| tail_model    | how fast units thin out toward the top                         |
| rung_units    | how many units are in each rung, those beyond the top included |
| unit_values   | what the units of a rung contribute on average                 |
| part_units    | the same of a part of the units that has a ladder of its own   |
| excess_draws  | how much a cap cuts off, of all units or of a part             |
| cap_choice    | the cap of a sum with the least expected error                 |
| group_loss    | how much limits of groups leave out, of drawn or scaled units  |
| joint_choice  | limits of groups and caps, chosen together                     |
| expected_bias | what limits leave out of a value                               |
"""
