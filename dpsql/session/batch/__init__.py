"""Statements that are declared together.

| module           | what it does                                                    |
| ---------------- | --------------------------------------------------------------- |
| batch            | all of them are proved, charged in one entry, and answered      |
| batch_price      | their proof and their price, free                               |
| family           | those that are planned as one, as the charts of a dashboard are |
| statement_number | which statement of a batch an error is of                       |
"""
