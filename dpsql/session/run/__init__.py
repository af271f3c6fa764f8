"""Charge, execute, post-process.

| module              | what it does                                                        |
| ------------------- | ------------------------------------------------------------------- |
| execution           | runs what was prepared: on the source, and on released tables       |
| public_statements   | statements over public tables alone, which run as they are written  |
| public_table_copies | copies of public tables, for engines that have nothing else         |
| dry_run             | what stands above the releases, tried on no rows before the charge  |
| charge_and_run      | charge, run, keep: one entry for all that is drawn together         |
| without_engine      | answers whose rows are released ones as they are, without an engine |
| public_tables       | public tables that are read above the releases                      |
"""
