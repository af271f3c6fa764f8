"""Calls of scalar functions.

| module              | what it does                                         |
| ------------------- | ---------------------------------------------------- |
| irregular_functions | DuckDB's functions that sqlglot reads as others      |
| function_call       | calls of scalar functions                            |
| width_bucket        | what to write for histograms                         |
| function_nodes      | which syntax nodes are calls, and of which functions |
"""
