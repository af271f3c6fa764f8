"""Which values a column or an expression can have.

| module                | what it does                                                   |
| --------------------- | -------------------------------------------------------------- |
| expression_domain     | values of every expression: interval, finite set, NULL         |
| column_domains        | values of the columns of each operator's rows                  |
| predicate_narrowing   | domains in the rows where a predicate is true                  |
| finite_domain         | expressions over columns of few values, computed               |
| vectorized_evaluation | values of expressions, row by row                              |
| renamed_columns       | columns that a projection only gives another id                |
| known_values          | expressions over columns of one known value, which may be NULL |
"""
