"""Ladders: what units contribute, as noisy counts that are kept; and the limits chosen by them.

| module          | what it does                                           |
| --------------- | ------------------------------------------------------ |
| stored_ladders  | the ladders of one CALIBRATE, as the ledger keeps them |
| draw_ladders    | CALIBRATE: draws the ladders of a table, part by part  |
| ladder_table    | the table that CALIBRATE answers with                  |
| group_share     | which part of all units a release reads                |
| query_noise     | how far noise moves a query's values, by its limits    |
| release_ladders | the ladders that say something of one release          |
| key_cap_choice  | caps on sums of each group, by its key                 |
| limit_chooser   | chooses the limits of each release of a statement      |
| limit_choice    | the limits of a release with the least expected error  |
| limit_notes     | what is told of such limits                            |
"""
