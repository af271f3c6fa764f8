"""Known attacks, on answers of dpsql and on exact ones.

| module         | what it does                                          |
| -------------- | ----------------------------------------------------- |
| attacks        | known attacks, against plain DuckDB and against dpsql |
| targets        | what attacks are run against: the same people in both |
| reconstruction | everybody's secret from counts over random subsets    |
"""
