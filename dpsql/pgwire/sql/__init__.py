"""Statements in PostgreSQL's dialect, and their translation to the pipeline's dialect.

| module                | what it does                                                            |
| --------------------- | ----------------------------------------------------------------------- |
| commands              | statements that the connection itself answers, by their first words     |
| copy_statement        | COPY: its query and its options                                         |
| cursor_statement      | DECLARE, FETCH and MOVE: where a cursor's next rows are                 |
| prepare_statement     | PREPARE and EXECUTE of SQL                                              |
| transaction_statement | BEGIN, COMMIT, ROLLBACK, SAVEPOINT and RELEASE                          |
| translate             | PostgreSQL's dialect → the pipeline's, with positions and column names  |
| query_reader          | a client's text → a query in both dialects, each text once              |
| statement_shape       | what statements have in common that differ in constants alone           |
| translation_cache     | queries that were translated before, over one edition of the schema     |
| grammar               | PostgreSQL's grammar, with function calls as they are written           |
| tree_search           | the parts of a syntax tree that are of some classes                     |
| interval_literal      | lengths of time as PostgreSQL writes them                               |
| semantics             | a statement as PostgreSQL means it: one pass for each construct         |
| types                 | PostgreSQL's types of a statement's columns, expressions and parameters |
| column_labels         | PostgreSQL's names of columns without a name                            |
| metadata_probe        | queries for a table's columns alone, answered without rows              |
"""
