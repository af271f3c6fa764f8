"""A server that speaks PostgreSQL's protocol: BI tools connect to it as to PostgreSQL 15.

| module          | what it does                                                     |
| --------------- | ---------------------------------------------------------------- |
| protocol        | bytes in, messages out: the protocol without sockets             |
| value           | values and their types as PostgreSQL's clients read them         |
| sql             | what clients write, in PostgreSQL's dialect                      |
| catalogue       | pg_catalog and information_schema, filled from the schema alone  |
| work            | processes that alone open the data                               |
| server          | listening, logins, and a task for each client                    |
| wire            | one socket: messages in, bytes out                               |
| conversation    | one client's statements: messages in, bytes out                  |
| running         | statements as they run: commands, portals, cursors, settings     |
| sending         | answers → messages                                               |
| exchange        | who connects: login, settings, what a new client is told         |
| portal          | prepared statements, and answers that are read in parts          |
| asking          | a statement's columns for free, its rows for its price           |
| transaction     | settings, and what a ROLLBACK reverts                            |
| zone            | names of time zones, and which are UTC                           |
| failure         | errors as PostgreSQL's clients read them                         |
| journal         | errors as the operator reads them                                |
| user            | who may log in, and with which password's verifier               |
| dataset         | what all connections share, and takes anew when files change     |
| option          | what the server is started with, checked before anything listens |
| limit           | how much one client, and all together, may take                  |
| health_endpoint | tells so by HTTP                                                 |
| health          | whether it is well, in numbers without data                      |
"""
