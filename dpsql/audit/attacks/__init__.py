"""Known attacks, on answers of dpsql and on exact ones.

| module         | what it does                                          |
| -------------- | ----------------------------------------------------- |
| attacks        | known attacks, against plain DuckDB and against dpsql |
| targets        | the same people in plain DuckDB and behind dpsql      |
| reconstruction | everybody's secret from counts over random subsets    |
"""
