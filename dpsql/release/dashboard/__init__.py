"""CREATE DASHBOARD: one measurement of all marginals that charts show.

| module              | what it does                                                         |
| ------------------- | -------------------------------------------------------------------- |
| calibrate_dashboard | a loss becomes the noise of all charts, at the least variance         |
| dashboard_table     | exact totals become a table of estimates of all cells, which add up   |
| chart_error         | how far noise moves the cells of a chart                              |
"""
