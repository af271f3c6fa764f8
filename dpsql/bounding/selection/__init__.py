"""Choices by private counts: of values and their cells, of candidates, and of keys.

| module                   | what it does                                                       |
| ------------------------ | ------------------------------------------------------------------ |
| cell_selection           | quantiles, extremes and modes as choices among cells               |
| private_selection        | public candidates as a choice among cells, by weighted counts      |
| frequent_key             | the most frequent key as a choice among cells                      |
"""
