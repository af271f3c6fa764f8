"""Calls of aggregates.

| module            | what it does                                                            |
| ----------------- | ----------------------------------------------------------------------- |
| text_extremes     | min, max and mode of text that nothing lists: of what enough units have |
| aggregates        | aggregate calls                                                         |
| syntax            | which aggregate a node is, as written                                   |
| result_type       | the types of aggregates                                                 |
| derived_aggregate | aggregates that are functions of others                                 |
| quantile_rank     | where in the order of its values a quantile is                          |
| public_aggregate  | aggregates of public and released rows                                  |
"""
