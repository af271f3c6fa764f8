"""One connection's settings.

| module           | what it does                                   |
| ---------------- | ---------------------------------------------- |
| session_settings | settings that a transaction may revert         |
| usual_settings   | what they are at first                         |
| time_zone        | names of time zones, and which of them are UTC |
"""
