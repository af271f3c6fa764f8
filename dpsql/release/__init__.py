"""Raw integers → noisy answers: the only place that looks inside `Raw`.

| module              | what it does                                                          |
| ------------------- | --------------------------------------------------------------------- |
| calibration         | the mechanism of each statistic for a granted loss, and the threshold |
| job                 | execute and release: one picklable value in, released tables out      |
| batch_count         | how many batches of units a release is run in                         |
| selection_mechanism | the mechanism of each selection for a granted loss                    |
| add_noise           | raw totals → noisy integers, over all cells, sorted by key            |
| columns             | noisy integers → typed columns                                        |
| consistency         | least squares over grouping sets                                      |
| exact_answers       | randomised answers as they are: without noise where that was proved   |
| open_public         | opening rows that are nobody's secret                                 |
| synopsis            | CREATE SYNOPSIS: multiplicative weights over noisy marginals          |
"""
