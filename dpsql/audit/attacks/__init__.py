"""Known attacks, on answers of dpsql and on exact ones.

| module         | what it does                                                    |
| -------------- | --------------------------------------------------------------- |
| attacks        | known attacks, against plain DuckDB and against dpsql           |
| outcome        | how often an attack was right, and how often its loss allows it |
| targets        | the same rows in plain DuckDB and behind dpsql                  |
| linkage        | a person's row, found by a public register                      |
| k_anonymity    | a table made k-anonymous                                        |
| reconstruction | everybody's secret from counts over random subsets              |
"""
