"""Calls of aggregates.

| module            | what it does                                                            |
| ----------------- | ----------------------------------------------------------------------- |
| text_extremes     | min, max and mode of text without a listed domain                       |
| aggregates        | the aggregate calls of a SELECT                                         |
| syntax            | which aggregate a node of the parser is                                 |
| result_type       | the types of aggregates                                                 |
| derived_aggregate | aggregates that are functions of others                                 |
| quantile_rank     | the fraction of values that lie below a quantile                        |
| public_aggregate  | refusals of aggregates that private rows don't have                     |
"""
