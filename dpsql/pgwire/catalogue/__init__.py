"""pg_catalog and information_schema: what a schema declares, in PostgreSQL's words, without data.

| module    | what it does                                                          |
| --------- | --------------------------------------------------------------------- |
| catalogue | which statements are meant, and their answers                         |
| relation  | the 208 relations of PostgreSQL 15 and its types, from a list of names |
| filling   | rows of pg_catalog, from a schema                                     |
| table_rows | rows of pg_catalog about one table or view                           |
| standard  | rows of information_schema, from a schema                             |
| object    | a schema's tables, columns and keys with OIDs                         |
| database  | these rows as a worker loads them                                     |
| workers   | processes that answer, within limits, and open nothing else           |
| public    | statements over public tables alone, by the same processes            |
| function  | PostgreSQL's functions as macros                                      |
| rewrite   | PostgreSQL's syntax → DuckDB's                                        |
| allowed   | what a question may be made of, a closed list                         |
| cast      | casts to PostgreSQL's types                                           |
| returns   | what PostgreSQL's functions and casts return                          |
| typing    | the types of an answer's columns, as PostgreSQL tells them            |

`postgresql_15.json` lists relations with their columns and types, as PostgreSQL 15 has them.
"""
