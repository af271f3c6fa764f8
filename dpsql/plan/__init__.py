"""The logical plan: relational operators and scalar expressions, as frozen data.

| module     | what it defines                                                          |
| ---------- | ------------------------------------------------------------------------ |
| expression | scalar expressions, each with its type                                    |
| negation   | the negation of a condition                                               |
| functions  | the registry of scalar functions: types, domain, total form, one entry each |
| duration   | lengths of time: months, days and microseconds                            |
| number     | numbers as SQL types hold them                                            |
| frame      | frames of window functions                                                |
| aggregate  | aggregate functions and their calls                                       |
| total_form | how aggregates and windows of one unit's rows are written, so that none raises |
| operator   | relational operators                                                      |
| sort       | the terms of ORDER BY                                                     |
| columns    | the columns that each operator hands on                                   |
| statistic  | what a release counts and sums of each row, as clamped integers           |
| selection  | what a release chooses by counts of cells: quantiles, modes               |
| formula    | how a released column follows from noisy statistics                       |
| bounded    | what a release becomes: terms, partials, limits                           |
| query      | what the engine is handed                                                 |
| describe   | expressions as a person reads them                                        |
| tree       | traversals that never list operators                                      |
"""
