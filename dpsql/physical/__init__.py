"""How a bounded release is run: what changes time alone, never a number.

| module       | what it does                                      |
| ------------ | ------------------------------------------------- |
| unit_batches | how many parts of the units a release is found in |
"""
