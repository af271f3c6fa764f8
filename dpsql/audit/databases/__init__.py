"""Synthetic databases, made of the schema's domains.

| module               | what it does                                                       |
| -------------------- | ------------------------------------------------------------------ |
| unit_ownership       | the units of a database's rows, derived without the planner        |
| boundary_values      | values at a column's ends, just outside, and absurd ones           |
| random_databases     | random adversarial databases with all their neighbors              |
| public_facts         | the public facts of such databases                                 |
| database_batch       | many databases in one engine, queried together                     |
| candidate_units      | units that a database may hold, of the schema's domains            |
| universe             | units that the owner lists: values of one column                   |
| unit_law             | units drawn by a law of the schema's domains, or of public rows    |
| exhaustive_databases | all databases over a few units, and all their neighbors            |
| search_space         | the databases on which a statement is tried                        |
| synthetic_engine     | synthetic databases as an engine, for the job that answers queries |
"""
