"""The pipeline: bind, bound, emit, calibrate, charge, run, finish; the only place that composes it.

| module          | what it does                                                              |
| --------------- | ------------------------------------------------------------------------- |
| session         | one analyst's use of one dataset, the pipeline on one screen              |
| release_runner  | what is due of a statement, found stored or charged and run               |
| batch           | statements declared together, composed, and charged as one                |
| dataset         | a schema file with its views, checked as SQL too                          |
| compile         | text → a compiled statement; nothing is charged                           |
| digest          | what is asked, as digests that outlive names: keys of stored answers      |
| run             | charge, execute, post-process                                             |
| answer          | answers: their errors, caches, roll-up and consistency                    |
| saved           | CREATE RELEASE                                                            |
| explain         | EXPLAIN PRIVACY as data                                                   |
| ledger_access   | a schema's ledger; looser schemas are refused                             |
| ledger_creation | a ledger that is made is told, and refused in another's home              |
| budget_share    | how much of what is left a statement would take                           |
| sidecar         | the sidecar of a source: where it is, what it was made of, how it is made |
| unit_rows       | which rows have a privacy unit                                            |
| interruptible   | work that Ctrl-C stops, though an engine runs it                          |
"""
