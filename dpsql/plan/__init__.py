"""The logical plan: relational operators and scalar expressions, as frozen data.

| module     | what it defines                                                          |
| ---------- | ------------------------------------------------------------------------ |
| expression | scalar expressions, each with its type                                    |
| functions  | the registry of scalar functions: types, domain, total form, one entry each |
| duration   | lengths of time: months, days and microseconds                            |
| number     | numbers as SQL types hold them                                            |
| operator   | relational operators                                                      |
| columns    | the columns that each operator hands on                                   |
| bounded    | what a release becomes: terms, partials, limits, statistics, formulas     |
| query      | what the engine is handed                                                 |
| describe   | expressions as a person reads them                                        |
| tree       | traversals that never list operators                                      |
"""
