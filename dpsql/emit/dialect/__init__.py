"""What engines disagree about: nodes that say the meaning, and how each engine writes it.

| module        | what it does                                                         |
| ------------- | -------------------------------------------------------------------- |
| nodes         | neutral nodes: an expression of the plan, steps, wide sums, hashes … |
| clamp         | clamps, and the intervals of discretized values                      |
| total_form    | statements over released rows that no released number makes fail     |
| sort_key      | terms of ORDER BY                                                    |
| sidecar_table | tables of a sidecar that a server has                                |
| text_length   | how long a text can be, before servers join it with others           |
| key_cells     | the cells of few keys, by comparisons or by a join                   |
| row_estimate  | what no engine may conclude from the number of rows that it expects   |
| unit_total    | the rows of a unit in all its groups, beside each of them            |
| scaled_units  | sums of units, scaled down where their rows are too many              |
| duckdb        | DuckDB's own nodes for them, and its text                            |
| postgres      | PostgreSQL's, by allow-lists                                         |
| spark         | Spark's, by allow-lists                                              |
"""
