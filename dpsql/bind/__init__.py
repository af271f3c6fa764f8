"""SQL text → logical plan, by allow-list: what has no rule here is refused before data are read.

| module        | what it binds                                                            |
| ------------- | ------------------------------------------------------------------------ |
| statement     | the whole statement: bind()                                              |
| syntax        | text → one syntax tree, within limits                                    |
| context       | what is known around a query: schema, ids, CTEs, the query outside       |
| scope         | names → columns                                                          |
| column_ids    | column ids                                                               |
| saved_release | saved releases, as tables beside the schema's                            |
| query         | SELECT, clause by clause, and set operations                             |
| from_clause   | FROM: tables, joins, CTEs, views, VALUES, LATERAL, PIVOT                 |
| proof         | joins of private rows with each other, and with public ones              |
| grouping      | GROUP BY and HAVING                                                      |
| aggregate     | calls of aggregates                                                      |
| window        | OVER                                                                     |
| subquery      | EXISTS, IN, ANY, ALL and scalar subqueries                               |
| expression    | scalar expressions                                                       |
| function      | calls of scalar functions                                                |
| statements    | CREATE SYNOPSIS, SUGGEST BOUNDS, and statements over public tables alone |
| by_name       | UNION BY NAME                                                            |
| collation     | COLLATE in comparisons                                                   |
| correction    | a refused statement with what its refusal says to write                  |
"""
