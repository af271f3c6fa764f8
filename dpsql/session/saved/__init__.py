"""CREATE RELEASE.

| module              | what it does                                            |
| ------------------- | ------------------------------------------------------- |
| saved_releases      | tables that analysts keep, as one of them may read them |
| saved_table         | one of them: its columns, and its rows or a margin      |
| metadata            | what is said of a saved release beside its rows         |
| table_law           | how far values of a kept table are off                  |
| dashboard_law       | what a dashboard has, and how far its values are off    |
| synopsis_law        | how far sums of a synopsis' margins are off             |
| readable_dashboards | dashboards, as queries are answered of them             |
| create              | CREATE RELEASE: an answer is kept under a name          |
"""
