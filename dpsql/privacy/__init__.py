"""The theory, without SQL.

| module              | what it defines                                                    |
| ------------------- | ------------------------------------------------------------------ |
| accounting          | losses, and how they add up                                        |
| allocation          | how one loss is shared by statistics                               |
| domain              | the values a column or expression may take                         |
| ladder              | limits chosen from noisy histograms of what units contribute       |
| distance            | how far apart neighbouring databases can push an operator's output |
| margin_grid         | a grid of too many cells to list, of which margins are public      |
| over_groups         | what becomes of a unit in too many groups                          |
| directed_rounding   | exact enclosures, rounded against ourselves                        |
| normal_law          | enclosures of the tail of the normal law                           |
| partition_selection | thresholds on noisy unit counts                                    |
| unit_weight         | what units in few groups weigh where keys are chosen               |
| subsampling         | what answers over a secret sample lose of all units                |
| mechanisms          | randomise integers; exact samplers                                 |
| online_decision     | dpsql.decide: experts chosen by losses in the caller's own hands   |
"""
