"""A released or public table, as PEP 249 describes it.

| module       | what it does                                                  |
| ------------ | ------------------------------------------------------------- |
| result       | a cursor's result: names, types, a table, its cost            |
| python_value | Arrow's values as Python's                                    |
| type_objects | PEP 249's type objects and constructors                       |
"""
