"""Exhaustive neighbors: no change is larger than derived.

| module           | what it does                                             |
| ---------------- | -------------------------------------------------------- |
| bound_check      | changes between two databases, held to derived bounds    |
| exhaustive_audit | the largest differences of neighbors, and derived bounds |
| change_curves    | changes against the distance of neighbors, or their size |
"""
