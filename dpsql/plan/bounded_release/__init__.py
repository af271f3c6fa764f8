"""A bounded release: its contributions, statistics, choices and estimators.

| module          | what it does                                                    |
| --------------- | --------------------------------------------------------------- |
| statistic       | what a release counts and sums of each row, as clamped integers |
| cell_selection  | what a release chooses by counts of cells: quantiles, modes     |
| estimator       | how a released column follows from noisy statistics             |
| bounded_release | what a release becomes: terms, partials, limits                 |
| engine_query    | what the engine is handed                                       |
| column_names    | the columns by which levels of its SQL hand on rows             |
"""
