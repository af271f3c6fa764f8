"""`dpsql prepare`: writes the sidecar of a source, and tells what is prepared.

| module    | what it does                                                           |
| --------- | ---------------------------------------------------------------------- |
| command   | the command: prepares the source, at once or where its data are new    |
| allocator | what is freed meanwhile, is kept for what is allocated next            |
| status    | what `--status` says: what is prepared, how old it is, and what would be |
"""
