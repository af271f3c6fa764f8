"""A PostgreSQL server as source: it computes, or a locked DuckDB does of columns that are pulled.

| module          | what it does                                                              |
| --------------- | ------------------------------------------------------------------------- |
| engine          | the engine: opens, checks, pulls what a statement needs, runs it, stops   |
| snapshot        | one version of the server's data, for all statements of a release         |
| connection      | connections: their settings, their one transaction, their failures        |
| catalog         | what the server's catalog says of tables, columns and keys                |
| access          | what is refused: roles that may write, views, row security, unkept keys   |
| offered_columns | names and types of base tables, as a schema may declare them              |
| column_types    | how columns of each type are read, so that no value fails                 |
| pull            | the rows of one table, from the server into DuckDB                        |
| push            | a statement that the server computes, over tables as they are declared    |
| pushed_columns  | how such a statement reads columns of each type                           |
| semantics       | what the server computes, and the test of what our SQL means there        |
| declared_keys   | keys, references and comments that the server declares, for a draft       |
| read_check      | can all that is declared be read, for the owner                           |
| sidecar         | the sidecar that `dpsql prepare` writes to the server: rows and their units |

Only SELECTs of ours reach the server, of names that the schema and the catalog have: nothing of a
statement that an analyst wrote does, but constants. What the server says of a failure is made of
rows, and is never repeated.
"""
