"""Who may connect.

| module         | what it does                                             |
| -------------- | -------------------------------------------------------- |
| authentication | who connects: login, settings, what a new client is told |
| users          | who may log in, and with which password's verifier       |
"""
