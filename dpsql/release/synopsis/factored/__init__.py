"""A synopsis over more cells than can be listed: noisy margins of them are kept, and read.

| module         | what it does                                                            |
| -------------- | ----------------------------------------------------------------------- |
| margin_choice  | which margins rounds choose among, and how much of them is kept         |
| occupied_cells | exact counts of the cells that have rows, summed to margins             |
| margin_model   | measured margins → estimates of every margin                            |
| nonnegative    | a margin near another one, without counts below zero                    |
| raking         | the most even margin that agrees with others                            |
| factored_table | what was measured as the rows of a table, and back                      |
"""
