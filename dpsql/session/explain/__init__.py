"""EXPLAIN PRIVACY as data.

| module           | what it does                                                         |
| ---------------- | -------------------------------------------------------------------- |
| plan_visibility  | what of a plan an analyst may read, decided once                     |
| error_curve      | how far noise moves values at each of several ε                      |
| report           | what EXPLAIN PRIVACY says, as data                                   |
| sensitivity_text | what a release's integers are, and how much of each units can change |
| explain          | EXPLAIN PRIVACY, without touching private data                       |
| advice           | what would make a statement cheaper, or its noise smaller            |
"""
