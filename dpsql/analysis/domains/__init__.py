"""Which values a column or an expression can have.

| module                | what it does                                                |
| --------------------- | ----------------------------------------------------------- |
| expression_domain     | values of every expression: interval, finite set, NULL      |
| column_domains        | values of the columns that operators hand on                |
| predicate_narrowing   | domains after a predicate                                   |
| finite_domain         | expressions over columns of few values, computed            |
| vectorized_evaluation | values of expressions, row by row                           |
| known_values          | expressions whose columns are known, most of all to be NULL |
"""
