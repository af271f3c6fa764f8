"""The second stage, a compiled statement → its released tables: charge, draw, store.

| module              | what it does                                                        |
| ------------------- | ------------------------------------------------------------------- |
| execution           | runs what was compiled: on the source, and on released tables       |
| public_statements   | statements over public tables alone, which run as they are written  |
| statement_cache     | statements that were bound before                                   |
| zone_conversions    | conversions between time zones in these, written out                |
| public_table_copies | copies of public tables, for engines that have nothing else         |
| dry_run             | what stands above the releases, tried on no rows before the charge  |
| known_size          | what is known of an answer's size before its charge, and after it   |
| charge_and_run      | the stage itself: what is due is charged and run, the rest is read  |
| pending_releases    | what of a statement is due, and what is stored or free              |
| stored_counts       | the most frequent keys by counts that are stored, where there are   |
| charged_draw        | charge, draw, store: one entry for all that is drawn together       |
| uncharged_failure   | what fails where nothing was charged says so                        |
| without_engine      | answers whose rows are released ones as they are, without an engine |
| exact_arithmetic    | numbers computed of them, where an engine's result is beyond doubt   |
| finishing           | what an engine makes of released tables: its SQL, and public rows   |
"""
