"""Who may connect.

| module         | what it does                                                      |
| -------------- | ----------------------------------------------------------------- |
| authentication | logins: failures, start-up settings, the first messages to a user |
| users          | the file of users, with a verifier of each user's password        |
| waiting_logins | clients without a login, of which the oldest ends for others      |
"""
