"""Raw integers → noisy answers: the only place that looks inside `Raw`.

| module    | what it does                                                          |
| --------- | --------------------------------------------------------------------- |
| calibrate | the mechanism of each statistic for a granted loss, and the threshold  |
| job       | execute and release: one picklable value in, released tables out       |
| choice    | the mechanism of each selection for a granted loss                     |
| noise     | raw totals → noisy integers, over all cells, sorted by key             |
| key       | group keys as columns: of all cells, or as they were found            |
| integers  | columns of integers, in machine words where all fit                   |
| vector    | sums and means of all groups at once                                  |
| value     | a column's value in one group                                         |
| level     | how the groups of several levels lie in each other                    |
| hierarchy | levels of which each divides the one before, made to add up            |
| margins   | margins of one table, made to add up                                  |
| interval  | how far noise may have moved it                                       |
| said      | what was said, as it is: without noise where that was proved           |
| others    | what other groups add to a column becomes statistics of each group    |
| column    | noisy integers → typed columns                                         |
| moment    | variances, correlations and slopes from noisy moments                  |
| moment_interval | how far noise may have moved these                              |
| arrow     | SQL types and values as Arrow's                                        |
| public    | opening rows that are nobody's secret                                  |
| synopsis | a histogram becomes a table of multiplicative weights |
| partition | partitions of a grid of cells into boxes |
"""
