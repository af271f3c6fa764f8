"""What may raise, where rows are joined: DuckDB loses rows where a TRY fails for a constant column.

| module          | what it does                                                        |
| --------------- | ------------------------------------------------------------------- |
| column_copies   | finds where rows are joined: what may raise reads copies of columns |
| wide_arithmetic | arithmetic without TRY, in types that hold every result             |
"""
