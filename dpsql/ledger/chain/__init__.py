"""The append-only chain of entries, and its anchor.

| module     | what it does                                                         |
| ---------- | -------------------------------------------------------------------- |
| entry      | the entries as closed data, their encoding, the hash that links them |
| anchor     | the second file, which tells a rolled-back ledger from a whole one   |
| hash_chain | appends entries and publishes them to the anchor                     |
| checkpoint | what the chain adds up to, and the sums that openings start from     |
| verify     | replays the whole chain and compares everything else with it         |
"""
