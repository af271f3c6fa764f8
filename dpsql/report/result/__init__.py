"""A table that may leave, as PEP 249 describes it.

| module       | what it does                                                  |
| ------------ | ------------------------------------------------------------- |
| result       | what a cursor reads from: names, types, a table, what it cost |
| python_value | Arrow's values as Python's                                    |
| type_objects | PEP 249's type objects and constructors                       |
"""
