"""Whose rows an operator has, and which keys hold.

| module                | what it does                                                          |
| --------------------- | --------------------------------------------------------------------- |
| lineage               | public, private or released; the unit column                          |
| unit_identity         | the columns that tell apart whose rows are, alone or together         |
| same_unit_conditions  | conditions by which rows that are asked for are of the unit that asks |
| functional_dependency | what the unit determines; is there one row per unit                   |
| row_source            | the one table whose rows a relation's rows stem from                  |
| public_keys           | the public rows that private ones can meet: keys to be listed         |
"""
