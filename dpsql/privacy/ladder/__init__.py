"""Limits chosen from ladders: noisy histograms, over rungs √2 apart, of what each unit contributes.

A ladder is paid for once; what is done with it here is post-processing, which costs nothing. Floats
are fine, therefore: the limit that is chosen is an exact rung again, and the bound that a release
rests on is that limit, enforced.

| module       | what it defines                                                           |
| ------------ | ------------------------------------------------------------------------- |
| rungs        | the √2 ladder of a grid                                                   |
| ladder       | a ladder, and its top                                                     |
| lattice      | fixed draws that stand for a posterior                                    |
| tail_model   | how many units are in each rung, those beyond the top included            |
| excess_draws | how much a limit is expected to cut off, for all units or a part of them  |
| cap_choice   | the cap with the least expected error of a sum                            |
| joint_choice | limits of groups and caps, chosen together                                |
"""
