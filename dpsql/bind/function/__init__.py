"""Calls of scalar functions.

| module              | what it does                                         |
| ------------------- | ---------------------------------------------------- |
| irregular_functions | calls whose nodes lack the shape of their arguments  |
| function_call       | calls of scalar functions, typed                     |
| width_bucket        | width_bucket(), and what to write for histogram()    |
| function_nodes      | which syntax nodes are calls, and of which functions |
"""
