"""What clients write, in PostgreSQL's dialect, before it is the pipeline's.

| module         | what it does                                                            |
| -------------- | ----------------------------------------------------------------------- |
| commands       | statements that are answered by the connection itself, told by words    |
| copy_statement | COPY: its query and its options                                         |
| translate      | PostgreSQL's dialect → the pipeline's, with places and names kept       |
| grammar        | PostgreSQL's grammar, with functions kept as written                    |
| semantics      | a statement as PostgreSQL means it: one pass for each construct         |
| types          | PostgreSQL's types of a statement's columns, expressions and parameters |
| column_labels  | what PostgreSQL calls columns without a name                            |
| metadata_probe | questions for columns alone, answered without rows                      |
"""
