"""The ledger in SQLite or PostgreSQL, and its files on disk.

| module           | what it does                                                             |
| ---------------- | ------------------------------------------------------------------------ |
| file_safety      | where the files may lie, and who may read them                           |
| backend          | what a ledger needs of the database that holds it; a server's name       |
| sqlite           | the SQLite file: its tables and transactions, and whether it is a ledger |
| postgres         | the same tables in PostgreSQL, for several servers                       |
| postgres_tables  | these tables as PostgreSQL has them                                      |
| queries          | the SQL that reads and writes the tables, with checked types             |
| backup           | a copy of a live ledger                                                  |
| process_lock     | a lock by which others see whether an opening's process still runs       |
| disk_reservation | disk space that is reserved while a charged statement runs               |
| sync_queue       | a process's waiting for disks, shared by those who wait at once          |
| waiting          | whether a thread may wait, as an event loop may not                      |
| exclusive_use    | whose turn it is with one opening: one thread's at a time                |
| watch            | whether anybody has committed since, without a query                     |
| opening          | a ledger is created, or checked from its last checkpoint on              |
"""
