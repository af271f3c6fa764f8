"""CREATE RELEASE.

| module         | what it does                                            |
| -------------- | ------------------------------------------------------- |
| saved_releases | tables that analysts keep, as one of them may read them |
| metadata       | what is said of a saved release beside its rows         |
| dashboard_law  | how far the values of a dashboard are off               |
| create         | CREATE RELEASE: an answer is kept under a name          |
"""
