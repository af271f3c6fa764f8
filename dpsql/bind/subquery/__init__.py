"""EXISTS, IN, ANY, ALL and scalar subqueries.

| module                | what it does                                                        |
| --------------------- | ------------------------------------------------------------------- |
| subquery              | EXISTS, IN and scalar subqueries                                    |
| quantified_comparison | IN, ANY and ALL of a subquery, in three values                      |
| subquery_kind         | what a subquery is asked for: its truth or a value, one row or any  |
| private_existence     | whether private rows are there, asked by rows of nobody, by a count |
| single_row            | the only row of a scalar subquery                                   |
| correlated_limit      | ORDER BY and LIMIT of a subquery's rows for each row around it      |
| scalar_join           | one row of a subquery joined to each row around it                  |
| equality              | equalities by which rows around ask for rows of a subquery          |
| correlation           | what is asked of an aggregated subquery's groups                    |
"""
