"""Text → a compiled statement; nothing is charged.

| module            | what it does                                                    |
| ----------------- | --------------------------------------------------------------- |
| loss_conversion   | ε asked for → loss in the ledger's currency; the ledger's terms |
| compiled          | a statement bound, bounded, emitted and calibrated: all but run |
| compile           | one statement, to be proved at some ε                           |
| plan_cache        | statements that were prepared before                            |
| deep_recursion    | room for deep statements                                        |
| source_facts      | public facts, from verified keys and public tables              |
| error_target      | the error that will do, and the most that a statement may cost  |
| column_provenance | which columns of an answer are released values as they are      |
"""
