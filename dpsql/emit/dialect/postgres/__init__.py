"""PostgreSQL 15: neutral trees as statements that no row can make fail, by allow-lists.

| module     | what it does                                                    |
| ---------- | --------------------------------------------------------------- |
| guard      | what PostgreSQL would raise of a row is NULL before             |
| expression | scalar expressions of the plan                                  |
| function   | scalar functions that both engines agree on                     |
| aggregate  | exact aggregates of one unit's rows                             |
| steps      | values and sums as integers of steps                            |
| lower      | PostgreSQL's nodes for neutral ones                             |
| render     | the text, with an allow-list of nodes, functions and types      |
"""
