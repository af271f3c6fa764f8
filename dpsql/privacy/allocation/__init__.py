"""How one loss is shared by statistics.

| module           | what it does                                                        |
| ---------------- | ------------------------------------------------------------------- |
| noise_allocation | how the statistics of a release share its loss                      |
| joint_allocation | how statistics share a loss that can't all be extreme at once       |
| correlated_allocation | how integers share a loss whose noise has a part in common     |
| mwem_calibration | what a synopsis costs, and how its histograms share that            |
| marginal_allocation | how residuals of marginals share a loss                         |
| threshold_rates  | the rates of the sparse vector technique that a loss allows         |
| learning_rate    | the rate of weighted majority that a loss allows                    |
"""
