"""EXISTS, IN, ANY, ALL and scalar subqueries.

| module                | what it does                                                        |
| --------------------- | ------------------------------------------------------------------- |
| subquery              | EXISTS, IN and scalar subqueries                                    |
| quantified_comparison | IN, ANY and ALL of a subquery, in three values                      |
| subquery_kind         | what a statement reads of a subquery: truth or value, one row or any |
| private_existence     | EXISTS and IN over private rows of other units, by noisy counts     |
| single_row            | whether a scalar subquery has one row, and its value over no rows   |
| correlated_limit      | ORDER BY and LIMIT of a subquery's rows for each outer row          |
| scalar_join           | one row of a subquery joined to each outer row                      |
| equality              | equalities that correlate a subquery with its outer query           |
| correlation           | correlated conditions of an aggregated subquery                     |
"""
