"""CREATE SYNOPSIS: multiplicative weights over noisy marginals.

| module         | what it does                                          |
| -------------- | ----------------------------------------------------- |
| mwem           | a histogram becomes a table of multiplicative weights |
| cell_partition | partitions of a grid of cells into boxes              |
"""
