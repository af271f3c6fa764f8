"""The append-only chain of entries, and its anchor.

| module     | what it does                                                         |
| ---------- | -------------------------------------------------------------------- |
| entry      | the entries as closed data, their encoding, the hash that links them |
| anchor     | the second file, by which a rolled-back ledger is recognized         |
| hash_chain | appends entries and publishes them to the anchor                     |
| checkpoint | running sums of the chain, from which a ledger is opened             |
| verify     | the audit: replays the whole chain and compares the tables with it   |
"""
