"""The durable ledger: what was spent, on what, and which noisy answers came of it.

Everything the ledger knows is an entry of one append-only chain; the other tables point into it.
A charge is committed, and outlives the process, before the caller may read a private row; it is on
disk, and has its line in the anchor, before anything is told of what was read. No charge is ever
refunded. A request is charged, then released (its noisy answer is stored) or burned (it has no
answer).

| module             | what it defines                                                      |
| ------------------ | -------------------------------------------------------------------- |
| storage            | SQLite, PostgreSQL, and the ledger's files on disk                   |
| amount             | the unit in which loss is counted, and its rounding                  |
| terms              | the terms a ledger is created with, and which of them may change     |
| charge             | a charge, its receipt, and the releases that are stored for it       |
| caps               | who may spend what: caps, balances, refusals; no SQL                 |
| fault              | errors about a broken ledger: which file, what is wrong, what to do  |
| chain              | the append-only chain of entries, and its anchor                     |
| charge_transaction | one charge: the dataset and its analyst pay, or nothing happens      |
| charge_group       | group commit: charges of one process in one transaction              |
| open_charges       | one opening's charges: room for the answer, and waiting for disks    |
| charge_log         | requests: each is charged once, for one statement, and settled once  |
| stored_answer      | stored releases: read again, at the reader's own cap                 |
| saved_release      | tables that analysts keep under names: owner, quota, meaning         |
| refusal            | refused statements: outside the chain, and bounded in number         |
| ledger             | `Ledger`: open, charge, release, burn, replay, view, balance, verify |
| read_only_ledger   | a ledger that is read and never written, on any medium               |
"""
