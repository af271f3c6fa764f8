"""A bounded release: its contributions, statistics, choices and estimators.

| module          | what it does                                                        |
| --------------- | ------------------------------------------------------------------- |
| statistic       | the clamped integers of each row that a release counts and sums     |
| key_factors     | by how much values of some groups are multiplied before the sum     |
| unit_weight     | what units weigh where keys are chosen                              |
| cell_selection  | the cells that a release chooses by their counts: quantiles, modes  |
| estimator       | how a released column follows from noisy statistics                 |
| bounded_release | a release with its limits: contributions, per-unit groups, limits   |
| cell_list       | a list of cells by where it is                                      |
| engine_query    | the SQL and tables for the engine                                   |
| server_query    | the same as statements that a server computes itself                |
| column_names    | the columns by which the levels of that SQL hand on rows            |
"""
