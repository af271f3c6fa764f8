"""CREATE ALERT and CHECK ALERT: an alert that is paid for once, and checked as data change.

| module       | what it does                                                          |
| ------------ | --------------------------------------------------------------------- |
| stored_alert | what the ledger keeps of an alert, its secret number included         |
| check_log    | the checks of an alert in their order, and how often it named one     |
| create       | CREATE ALERT: the charge, the secret number, the name                 |
| check        | CHECK ALERT: what is compared now, and recorded before it is told     |
| alerts       | one analyst's alerts: made, checked, explained and listed             |
| saved_alerts | an analyst's own alerts, by their names                               |
"""
