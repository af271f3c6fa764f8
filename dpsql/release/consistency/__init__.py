"""Least squares over grouping sets.

| module    | what it does                                                |
| --------- | ----------------------------------------------------------- |
| levels    | how the groups of several levels lie in each other          |
| hierarchy | levels of which each divides the one before, made to add up |
| margins   | margins of one table, made to add up                        |
"""
