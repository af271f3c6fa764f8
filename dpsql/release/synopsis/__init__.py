"""CREATE SYNOPSIS: estimates of all cells, from noisy margins of them.

| module             | what it does                                             |
| ------------------ | -------------------------------------------------------- |
| calibrate_synopsis | mechanisms of its rows and sums, within a loss           |
| synopsis_table     | exact totals of all cells become a table of estimates    |
| mwem               | rounds: a partition is chosen and measured               |
| weight_fit         | counts of rows are fitted by multiplicative weights      |
| sum_fit            | sums of values are fitted by least squares               |
| cell_partition     | partitions of a grid of cells into boxes                 |
| factored           | a synopsis of too many cells to list keeps margins       |
| margin_error       | how far noise moves sums over measured margins           |
| margin_bound       | how far margins are off that no round measured           |
"""
