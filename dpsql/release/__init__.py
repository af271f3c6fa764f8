"""Raw integers → noisy answers: the only place that looks inside `Raw`.

| module              | what it does                                                           |
| ------------------- | ---------------------------------------------------------------------- |
| calibration         | the mechanism of each statistic within a loss, and the threshold       |
| key_threshold       | from what on unlisted keys are shown, and what that loses with noise   |
| noise_loss          | what noise loses where its statistic moves, and noise of a loss in μ²  |
| joint_noise         | noise of several statistics or groups that is drawn together           |
| noise_choice        | the ways to add noise to sums within a loss, and their error           |
| job                 | execute and release: one picklable value in, released tables out       |
| server_rows         | exact results as a server computes them of its own rows                |
| batch_count         | the number of unit batches that a release is run in                    |
| selection_mechanism | the mechanism of each selection within a loss                          |
| top_keys            | the most frequent keys, chosen and then counted                        |
| add_noise           | raw totals → noisy integers, over all cells, sorted by key             |
| columns             | noisy integers → typed columns                                         |
| consistency         | least squares over grouping sets                                       |
| exact_answers       | randomised answers without further noise, where that was proved        |
| open_public         | opening rows that are nobody's secret                                  |
| alert               | ALERT: the first conditions that hold, by sums of groups               |
| decision            | DECIDE: the expert of each round, by losses of earlier rounds          |
| dashboard           | CREATE DASHBOARD: Gaussian noise on residuals of marginals             |
| synopsis            | CREATE SYNOPSIS: rows and sums of all cells, by noisy marginals        |
"""
