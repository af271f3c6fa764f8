"""The third stage, released tables → an answer: errors, caches, roll-up and consistency.

| module              | what it does                                                           |
| ------------------- | ---------------------------------------------------------------------- |
| answer_cache        | answers that were given before                                         |
| stored_answer       | releases as the ledger has them: their charge, their tables as bytes   |
| rollup              | answers summed from the noisy cells of stored ones, on request         |
| chart_reading       | queries that are answered of a dashboard which has what they ask for   |
| consistent_totals   | grouping sets that are made to add up                                  |
| distinct_range      | counts of distinct values, shown within what there can be              |
| default_limits      | limits that nobody chose, and that may leave rows out of an answer     |
| unlisted_keys       | why a table of groups is empty                                         |
| undeclared_values   | constants that are none of the declared values they are compared with  |
| column_errors       | how released columns were made, how far noise moved an answer's values |
| dashboard_errors    | how far noise moved sums that are read of a dashboard                  |
| row_errors          | how far noise moved each value of an answer                            |
| answer              | what an analyst gets: a table, and what it cost                        |
| answer_construction | the stage itself: what stands above the releases is finished           |
"""
