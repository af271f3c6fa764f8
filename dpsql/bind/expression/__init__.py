"""Scalar expressions.

| module           | what it does                                             |
| ---------------- | -------------------------------------------------------- |
| expression       | scalar expressions, with their types                     |
| binder           | what the rules below need of the binder of expressions   |
| row_value        | (a, b): comparisons of rows, and their texts to count by |
| predicate        | AND, OR, BETWEEN, IN and IS                              |
| conditional      | CASE and what is short for it                            |
| template         | expressions of ours over parts of the user's statement   |
| arithmetic       | numbers, moments and lengths of time under + - * /       |
| interval_literal | constant lengths of time                                 |
| time_difference  | lengths of time between moments, measured or compared    |
| cast             | casts                                                    |
| coercion         | DuckDB's rules for the types of operators                |
| literal          | constants                                                |
| current_time     | the moment that now() means                              |
| collation        | COLLATE in comparisons                                   |
"""
