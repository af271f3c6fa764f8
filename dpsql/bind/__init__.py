"""SQL text → logical plan, by allow-list: what has no rule here is refused before data are read.

| module        | what it binds                                                            |
| ------------- | ------------------------------------------------------------------------ |
| statement     | the whole statement: bind()                                              |
| schema_views  | the schema's views: bound, and described as tables                       |
| context       | what a query is bound in: schema, column ids, CTEs, its outer query      |
| scope         | names → columns                                                          |
| column_ids    | column ids                                                               |
| saved_release | saved releases, which are tables in addition to the schema's             |
| from_clause   | FROM: tables, joins, CTEs, views, VALUES, LATERAL, PIVOT                 |
| proof         | joins of private rows with each other, and with public ones              |
| grouping      | GROUP BY and HAVING                                                      |
| aggregate     | calls of aggregates                                                      |
| window        | OVER                                                                     |
| subquery      | EXISTS, IN, ANY, ALL and scalar subqueries                               |
| function      | calls of scalar functions                                                |
| statements    | CREATE SYNOPSIS, SUGGEST BOUNDS, CALIBRATE, DECIDE, public statements    |
| query         | SELECT, clause by clause, and set operations                             |
| expression    | scalar expressions                                                       |
| syntax        | text → one syntax tree, within limits                                    |
"""
