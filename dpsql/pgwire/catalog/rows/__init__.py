"""The rows of the catalogue: PostgreSQL's own, and those that follow from a schema alone.

| module                  | what it does                                                           |
| ----------------------- | ---------------------------------------------------------------------- |
| pg_catalog_rows         | rows of pg_catalog, from a schema                                      |
| pg_catalog_table_rows   | rows of pg_catalog about one table or view                             |
| dependent_rows          | rows of pg_catalog about types, triggers and rules of a table          |
| information_schema_rows | rows of information_schema, from a schema                              |
| system_rows             | rows that PostgreSQL has in every database                             |
| views                   | relations that are queries of others: privileges, and empty statistics |

`system_rows_15.zip` has the rows of every database.
"""
