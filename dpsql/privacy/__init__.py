"""The theory, without SQL.

| module              | what it defines                                                        |
| ------------------- | ---------------------------------------------------------------------- |
| domain              | the values a column or expression may take                             |
| distance            | how far apart neighbouring databases can push an operator's output     |
| loss                | what a measurement costs: ε, (ε, δ) or (ρ, δ)                          |
| conversion          | ρ to (ε, δ) and back, rounded against ourselves                        |
| composition         | what measurements fixed beforehand cost together                        |
| rounding            | exact enclosures, rounded against ourselves                             |
| joint_split         | the same for statistics that can't all be extreme at once        |
| noise_split         | how one loss is shared by the statistics of a release                  |
| partition_selection | thresholds on noisy unit counts                                        |
| optimal_selection   | which groups may appear when their counts are not released             |
| mechanisms          | randomise integers; exact samplers                                     |
| weighing | what a synopsis by multiplicative weights costs |
"""
