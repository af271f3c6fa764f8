"""Least squares over grouping sets.

| module    | what it does                                                        |
| --------- | ------------------------------------------------------------------- |
| levels    | how the groups of several grouping sets are parts of each other     |
| hierarchy | levels of which each divides the one before, made to add up         |
| margins   | margins of one table, made to add up                                |
"""
