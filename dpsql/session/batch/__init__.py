"""Statements that are declared together.

| module | what it does                                                            |
| ------ | ----------------------------------------------------------------------- |
| batch  | all of them are proved, charged in one entry, and answered              |
| family | those that are planned as one, as the charts of a dashboard are         |
"""
