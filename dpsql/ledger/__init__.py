"""The durable ledger: what was spent, on what, and which noisy answers came of it.

Everything the ledger knows is an entry of one append-only chain; the other tables point into it.
A charge is on disk, in the ledger and in its anchor, before the caller may read a private row, and
nothing is ever given back. Entries are charged, then released (with the noisy answer) or burned.

| module      | what it defines                                                          |
| ----------- | ------------------------------------------------------------------------ |
| amount      | the unit in which loss is counted, and its rounding                      |
| terms       | what a ledger is created with, and what may change of it                 |
| request     | a charge, its receipt, the releases it keeps                             |
| rule        | who may spend what: caps, balances, refusals; no SQL                     |
| entry       | the entries as closed data, their encoding, the hash that links them     |
| fault       | what a broken ledger says: which file, what is wrong, what to do         |
| place       | where the files may lie, and who may read them                           |
| backend     | what a ledger needs of the database that holds it; a server's name       |
| database    | the SQLite file: its tables and transactions, and whether it is a ledger |
| postgres    | the same tables in PostgreSQL, for several servers                       |
| store       | what the tables are asked and told, in SQL                               |
| anchor      | the second file, which tells a rolled-back ledger from a whole one       |
| chain       | appends entries and publishes them to the anchor                         |
| total       | what the chain adds up to, and the sums that openings start from         |
| backup      | a copy of a live ledger                                                  |
| audit       | replays the whole chain and compares everything else with it             |
| owner       | a sign of life that the system takes down when a process ends            |
| charging    | one charge: the dataset and its analyst pay, or nothing happens           |
| room        | disk space that is held while a charged statement runs                   |
| request_log | requests: charged once, settled once, bound to what was asked            |
| reuse       | kept releases: answered again, at the reader's own cap                   |
| naming      | tables that analysts keep under names: owner, quota, meaning             |
| refusal     | what was refused, beside the chain and of bounded size                   |
| opening     | a ledger is created, or checked from its last sum on                     |
| ledger      | `Ledger`: open, charge, release, burn, replay, view, balance, verify     |
| reading     | a ledger that is read and never written, on any medium                   |
"""
