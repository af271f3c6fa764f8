"""Spark 4: neutral trees as statements that no row can make fail, by allow-lists.

| module     | what it does                                                    |
| ---------- | --------------------------------------------------------------- |
| guard      | types, casts, and values that Spark would raise of              |
| expression | scalar expressions of the plan                                  |
| function   | scalar functions that both engines agree on                     |
| aggregate  | exact aggregates of one unit's rows                             |
| steps      | values and sums as integers of steps                            |
| unit_sum   | sums of one unit's rows, in 64 bits                             |
| interval   | arithmetic in 64 bits, where they are known to hold it          |
| lower      | Spark's nodes for neutral ones                                  |
| render     | the text, with an allow-list of nodes, functions and types      |

Statements mean what they say under the settings of `dpsql.engine.spark.connection.SETTINGS` alone.
"""
