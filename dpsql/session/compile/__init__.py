"""The first stage, text → a compiled statement; nothing is charged.

| module            | what it does                                                    |
| ----------------- | --------------------------------------------------------------- |
| loss_conversion   | ε asked for → loss in the ledger's currency; the ledger's terms |
| compiled          | a statement bound, bounded, emitted and calibrated: all but run |
| release_compiler  | its releases: bounded, calibrated for a share of its ε, planned |
| plan_choice       | plans that answer the same by mechanisms of less error          |
| compiled_release  | one release of a statement, all but its draw                    |
| compile           | the stage itself: one statement, proved at an ε                 |
| request           | what a statement's releases are for: its answer, or a synopsis  |
| plan_cache        | statements that were compiled before                            |
| generic           | statements that differ in constants, or in who asks, proved once |
| proofs            | what is proved of releases, remembered for all losses           |
| deep_recursion    | room for deep statements                                        |
| source_facts      | public facts, from verified keys and public tables              |
| error_target      | the least ε that keeps errors within what was set               |
| cost_cap          | the most that a statement may cost                              |
| margin_reading    | which margin of a factored synopsis each scan of it reads       |
| row_numbers       | which row of a released table each row of an answer is          |
| column_provenance | which columns of an answer are released values as they are      |
"""
