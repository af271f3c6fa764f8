"""Plans become engine SQL: a tree of ours, rendered once; no text of a statement is in it.

| module   | what it renders                                |
| -------- | ---------------------------------------------- |
| sql      | expressions, and the tree as text              |
| relation | operators as SELECTs                           |
| release  | a bounded release: contributions, limits, sums |
"""
