"""FROM: tables, joins, CTEs, views, VALUES, LATERAL, PIVOT.

| module                  | what it does                                                 |
| ----------------------- | ------------------------------------------------------------ |
| from_clause             | FROM: tables, derived tables, CTEs, joins                    |
| relation_name           | what FROM names: listed rows, a CTE, a table or a view       |
| period_filter           | which rows of a table a refreshed budget is of               |
| lateral                 | LATERAL: what a subquery in FROM has for each row before it  |
| join                    | kinds of joins: NATURAL, SEMI, ANTI                          |
| table                   | the schema's tables and views by name                        |
| common_table_expression | queries that go by a name: WITH's, and views'                |
| view                    | the owner's views, bound where they are named                |
| values_clause           | FROM: VALUES, generate_series, range and unnest of constants |
| pivot                   | PIVOT, as aggregates of the rows with each value             |
"""
