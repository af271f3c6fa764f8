"""Proofs that are remembered.

| module         | what it holds                                                     |
| -------------- | ----------------------------------------------------------------- |
| release_proofs | what is proved of a release, and its SQL, whatever noise is added |
| recently_used  | values that were used last, and others that are forgotten         |
"""
