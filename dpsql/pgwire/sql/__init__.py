"""What clients write, in PostgreSQL's dialect, before it is the pipeline's.

| module    | what it does                                                          |
| --------- | --------------------------------------------------------------------- |
| split     | several statements in one text → each with its place                  |
| command   | statements that are answered by the connection itself, told by words  |
| copying   | COPY: its query and its options                                       |
| dialect   | PostgreSQL's dialect → the pipeline's, with places and names kept     |
| division  | which divisions are of integers                                       |
| label     | what PostgreSQL calls columns without a name                          |
| inference | the types of parameters, from where they stand                        |
| probe     | questions for columns alone, answered without rows                    |
"""
