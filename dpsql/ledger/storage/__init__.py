"""SQLite, PostgreSQL, and the files that they lie in.

| module           | what it does                                                             |
| ---------------- | ------------------------------------------------------------------------ |
| file_safety      | where the files may lie, and who may read them                           |
| backend          | what a ledger needs of the database that holds it; a server's name       |
| sqlite           | the SQLite file: its tables and transactions, and whether it is a ledger |
| postgres         | the same tables in PostgreSQL, for several servers                       |
| queries          | what the tables are asked and told, in SQL                               |
| backup           | a copy of a live ledger                                                  |
| process_lock     | a sign of life that the system takes down when a process ends            |
| disk_reservation | disk space that is held while a charged statement runs                   |
| opening          | a ledger is created, or checked from its last sum on                     |
"""
