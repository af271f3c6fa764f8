"""The pipeline: bind, bound, emit, calibrate, charge, run, finish; the only place that composes it.

A statement passes three stages, one function each: `compile_statement` proves it and charges
nothing, `charge_and_run` charges and draws what isn't stored, `build_answer` finishes the answer.

| module          | what it does                                                               |
| --------------- | -------------------------------------------------------------------------- |
| session         | one analyst's use of one dataset, the pipeline on one screen               |
| context         | what the three stages share: engines, ledger, what is remembered           |
| options         | what an analyst chooses for a statement beside its text                    |
| batch           | statements declared together, and charged as one                           |
| dataset         | a schema file with its views, checked as SQL too                           |
| compile         | the first stage, text → a compiled statement; nothing is charged           |
| digest          | what is asked, as digests that outlive names: keys of stored answers       |
| run             | the second stage, a compiled statement → its released tables: the charge   |
| answer          | the third stage, released tables → an answer: errors, roll-up, consistency |
| saved           | CREATE RELEASE                                                             |
| alerts          | CREATE ALERT and CHECK ALERT: paid for once, and checked as data change    |
| ladders         | CALIBRATE: what units contribute, and the limits that are chosen by it     |
| explain         | EXPLAIN PRIVACY as data                                                    |
| analyst_ledger  | a schema's ledger as one analyst's session uses it                         |
| shared_ledger   | one opening of a ledger for many sessions of a process                     |
| ledger_access   | a schema's ledger; looser schemas are refused                              |
| ledger_creation | a ledger that is made is told, and refused in another's home               |
| budget_share    | how much of what is left a statement would take                            |
| sidecar         | the sidecar of a source: where it is, what it was made of, how it is made  |
| preparing       | the sidecar of a server: what it has to be, and how it is made             |
| unit_rows       | which rows have a privacy unit                                             |
| limited_rows    | which part of a table's rows its limits leave out, for the owner           |
| clipped_values  | which part of a column's sum lies beyond its bounds, for the owner         |
| interruptible   | work that Ctrl-C stops, though an engine runs it                           |
"""
