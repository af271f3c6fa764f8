"""The durable ledger: what was spent, on what, and which noisy answers came of it.

Everything the ledger knows is an entry of one append-only chain; the other tables point into it.
A charge is on disk, in the ledger and in its anchor, before the caller may read a private row, and
nothing is ever given back. Entries are charged, then released (with the noisy answer) or burned.

| module             | what it defines                                                      |
| ------------------ | -------------------------------------------------------------------- |
| storage            | SQLite, PostgreSQL, and the files that they lie in                   |
| amount             | the unit in which loss is counted, and its rounding                  |
| terms              | what a ledger is created with, and what may change of it             |
| charge             | a charge, its receipt, the releases it keeps                         |
| caps               | who may spend what: caps, balances, refusals; no SQL                 |
| fault              | what a broken ledger says: which file, what is wrong, what to do     |
| chain              | the append-only chain of entries, and its anchor                     |
| charge_transaction | one charge: the dataset and its analyst pay, or nothing happens      |
| charge_log         | requests: charged once, settled once, bound to what was asked        |
| stored_answer      | kept releases: answered again, at the reader's own cap               |
| saved_release      | tables that analysts keep under names: owner, quota, meaning         |
| refusal            | what was refused, beside the chain and of bounded size               |
| ledger             | `Ledger`: open, charge, release, burn, replay, view, balance, verify |
| read_only_ledger   | a ledger that is read and never written, on any medium               |
"""
