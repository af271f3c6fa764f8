"""Exhaustive neighbors: no change is larger than derived.

| module           | what it does                                             |
| ---------------- | -------------------------------------------------------- |
| bound_check      | changes between two databases, held to derived bounds    |
| chosen_counts    | counts of chosen cells, held to the charged loss         |
| exhaustive_audit | the largest differences of neighbors, and derived bounds |
| change_curves    | changes against the distance of neighbors, or their size |
"""
