"""How a bounded release is run: what changes time alone, never a number.

| module       | what it does                                                        |
| ------------ | ------------------------------------------------------------------- |
| plan         | the physical plan, and all strategies that may make it              |
| choose       | the cheapest of the strategies that apply                           |
| cost         | estimates and thresholds, each beside its measurement               |
| selectivity  | how many of the rows conditions are taken to leave                  |
| strategy     | one strategy a file: when it applies, what it costs, its SQL        |
| modifier     | what any strategy may carry: sidecar, clamps, joins, batches        |
| sidecar_rows | the rows of a release as a sidecar stores them                      |
| numbered_rows | rows that stored numbers draw of each unit                         |
| emission     | what the SQL of all strategies has in common                        |
| engine_query | the SQL of a release, at once, batch by batch and without a sidecar |
| cached_sums  | units' sums that an engine keeps for statements that ask again      |
| push_down    | a release as statements that a server computes                      |
| server_cost  | what a server, or to pull its rows, is taken to cost                |
| way          | whether a server computes it, or its rows are pulled                |
"""
