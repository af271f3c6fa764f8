"""pg_catalog and information_schema: what a schema declares, in PostgreSQL's words, without data.

| module           | what it does                                                           |
| ---------------- | ---------------------------------------------------------------------- |
| catalog          | which statements read the catalogue, and their answers                 |
| relations        | the 208 relations of PostgreSQL 15 and its types                       |
| rows             | the rows of those relations                                            |
| objects          | a schema's tables, columns and keys with OIDs                          |
| catalog_database | the catalogue's rows as a worker loads them                            |
| functions        | PostgreSQL's functions as macros                                       |
| procedures       | names of functions, which are OIDs of type regproc                     |
| duckdb_maps      | maps and lists of constants, as DuckDB binds them fastest              |
| named_relations  | which relations a query names, and columns that every table has        |
| to_duckdb        | PostgreSQL's syntax → DuckDB's                                         |
| calls            | calls for which no macro can stand                                     |
| allowlist        | the closed list of syntax and functions that a query may use           |
| cast             | casts to PostgreSQL's types                                            |
| parameter_value  | parameters as constants of DuckDB's                                    |
| return_types     | what PostgreSQL's functions and casts return                           |
| column_types     | the types of a catalogue query's columns, as PostgreSQL describes them |

`postgresql_15.json` lists relations with their columns and types, as PostgreSQL 15 has them.
"""
