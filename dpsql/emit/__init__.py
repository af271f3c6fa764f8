"""Plans become engine SQL: a tree of ours, rendered once; no text of a statement is in it.

| module   | what it renders                                              |
| -------- | ------------------------------------------------------------ |
| sql      | identifiers, clamps, and the texts of nodes                  |
| dialect  | what engines disagree about: neutral nodes, and their lowering |
| relation | operators as SELECTs                                         |
| release  | a bounded release: contributions, limits, sums               |
"""
