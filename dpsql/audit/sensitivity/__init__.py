"""Exhaustive neighbours: no change is larger than derived.

| module           | what it does                                        |
| ---------------- | --------------------------------------------------- |
| bound_check      | what changed between two, held to what was derived  |
| exhaustive_audit | how much neighbours differ, beside what was derived |
"""
