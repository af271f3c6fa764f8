"""The most frequent of listed keys with their counts, chosen first and counted then.

| module       | what it does                                                       |
| ------------ | ------------------------------------------------------------------ |
| top_counts   | the choice, and the noise of the counts of what is chosen          |
| choice_share | how the loss is shared, where that has less error than all counts  |
"""
