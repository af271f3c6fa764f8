"""CREATE SYNOPSIS: multiplicative weights over noisy marginals.

| module         | what it does                                          |
| -------------- | ----------------------------------------------------- |
| mwem           | a histogram becomes a table of multiplicative weights |
| weight_fit     | weights are fitted to noisy counts of partitions      |
| cell_partition | partitions of a grid of cells into boxes              |
| margin_error   | how far noise moves sums over measured margins        |
"""
