"""`dpsql audit`: what was tried against the promise, for owners and reviewers.

| module      | what it does                                                              |
| ----------- | ------------------------------------------------------------------------- |
| command     | the commands and their options                                            |
| sensitivity | prints what an enumeration found                                          |

Nothing here reads a source or a ledger: databases are made of the schema's domains.
"""
