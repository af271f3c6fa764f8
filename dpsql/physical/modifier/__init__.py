"""What any strategy may carry: each saves time, and changes no integer.

| module                 | what it does                                                       |
| ---------------------- | ------------------------------------------------------------------ |
| sidecar_access         | private tables are read where rows are stored with their units     |
| owner_join_elimination | tables that lead from rows to their unit are left out of a join    |
| clamp_elimination      | rows that no clamp would change are summed without clamps          |
| unit_batches           | the units in several batches, one after the other, where they are many |
| waiting_rows           | which rows wait in memory, so that more batches are worth their while |
"""
