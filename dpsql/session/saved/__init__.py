"""CREATE RELEASE.

| module         | what it does                                            |
| -------------- | ------------------------------------------------------- |
| saved_releases | tables that analysts keep, as one of them may read them |
| metadata       | what is said of a saved release beside its rows         |
| table_law      | how far values of a kept table are off                  |
| dashboard_law  | how far the values of a dashboard are off               |
| synopsis_law   | how far sums of a synopsis' margins are off             |
| create         | CREATE RELEASE: an answer is kept under a name          |
"""
