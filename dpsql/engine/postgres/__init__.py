"""A PostgreSQL server as source: needed columns are pulled into a locked DuckDB, which answers.

| module          | what it does                                                              |
| --------------- | ------------------------------------------------------------------------- |
| engine          | the engine: opens, checks, pulls what a statement needs, runs it, stops   |
| snapshot        | one version of the server's data, for all statements of a release         |
| connection      | connections: their settings, their one transaction, their failures        |
| catalog         | what the server's catalog says of tables, columns and keys                |
| access          | what is refused: roles that may write, views, row security, unkept keys   |
| offered_columns | names and types of base tables, as a schema may declare them              |
| column_types    | how columns of each type are read, so that no value fails                 |
| needed_columns  | which tables and columns a statement reads                                |
| pull            | the rows of one table, from the server into DuckDB                        |
| declared_keys   | keys, references and comments that the server declares, for a draft       |
| read_check      | can all that is declared be read, for the owner                           |

Only SELECTs of quoted names that the catalog has reach the server: nothing of a statement that an
analyst wrote does. What the server says of a failure is made of rows, and is never repeated.
"""
