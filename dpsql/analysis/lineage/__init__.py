"""Whose rows an operator has, and which keys hold.

| module                | what it does                                                           |
| --------------------- | ---------------------------------------------------------------------- |
| lineage               | visibility: public, private or released; the unit column               |
| unit_identity         | the columns, alone or together, that identify rows' units              |
| key_equality          | conditions of a join that equate columns with a key                    |
| same_unit_conditions  | conditions of EXISTS by which both rows are of one unit                |
| functional_dependency | which columns the unit determines, and whether it has one row at most  |
| row_number            | conditions on row_number(), which leave one row of each partition      |
| row_source            | the one table each row of which becomes at most one row of a relation  |
| public_keys           | the public rows that private ones can meet: keys to be listed          |
"""
