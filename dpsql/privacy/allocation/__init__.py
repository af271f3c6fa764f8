"""How one loss is shared by statistics.

| module           | what it does                                                     |
| ---------------- | ---------------------------------------------------------------- |
| noise_allocation | how it is shared by the statistics of a release                  |
| joint_allocation | how it is shared by statistics that can't all be extreme at once |
| mwem_calibration | what a synopsis by multiplicative weights costs                  |
"""
