"""Expressions, and the tree as text.

| module            | what it does                                                        |
| ----------------- | ------------------------------------------------------------------- |
| identifier        | identifiers: every column is c<id>, every schema name is quoted     |
| literal           | constants, without a cast where they stand beside their type        |
| expression        | scalar expressions in total form: nothing on private rows can raise |
| function_call     | scalar functions in total form                                      |
| decimal_steps     | decimals without their point, exactly                               |
| writer            | what writers of one kind of node share                              |
| expression_writer | names, constants, and what is computed of them, as text             |
| query_writer      | queries and their clauses as text                                   |
| render            | the tree as text                                                    |
"""
