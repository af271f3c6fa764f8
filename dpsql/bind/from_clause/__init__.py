"""FROM: tables, joins, CTEs, views, VALUES, LATERAL, PIVOT.

| module                  | what it does                                                 |
| ----------------------- | ------------------------------------------------------------ |
| from_clause             | FROM: tables, derived tables, CTEs, joins                    |
| relation_name           | what FROM names: listed rows, a CTE, a table or a view       |
| period_filter           | the rows of a table that are of a refreshed budget's period  |
| lateral                 | LATERAL: the rows of a subquery for each row before it       |
| join                    | kinds of joins: NATURAL, SEMI, ANTI                          |
| table                   | the schema's tables and views by name                        |
| common_table_expression | named queries, of WITH and of views                          |
| view                    | the owner's views, bound where they are named                |
| values_clause           | FROM: VALUES, generate_series, range and unnest of constants |
| pivot                   | PIVOT, as aggregates of the rows with each value             |
"""
