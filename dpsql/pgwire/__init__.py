"""A server that speaks PostgreSQL's protocol: BI tools connect to it as to PostgreSQL 15.

| module            | what it does                                                     |
| ----------------- | ---------------------------------------------------------------- |
| catalog           | pg_catalog and information_schema, filled from the schema alone  |
| codec             | values and their types as PostgreSQL's clients read them         |
| sql               | what clients write, in PostgreSQL's dialect                      |
| workers           | processes that alone open the data                               |
| protocol          | bytes in, messages out: the protocol without sockets             |
| server            | listening, logins, and a task for each client                    |
| connection_stream | one socket: messages in, bytes out                               |
| message_handler   | one client's statements: messages in, bytes out                  |
| executor          | statements as they run: commands, portals, cursors, settings     |
| result_messages   | answers → messages                                               |
| login             | who may connect                                                  |
| portal            | prepared statements, and answers that are read in parts          |
| query_service     | a statement's columns for free, its rows for its price           |
| session_settings  | settings, and what a ROLLBACK reverts                            |
| time_zone         | names of time zones, and which are UTC                           |
| error_response    | errors as PostgreSQL's clients read them                         |
| monitoring        | what the operator sees: metrics, health, errors                  |
| shared_dataset    | what all connections share, and takes anew when files change     |
| options           | what the server is started with, checked before anything listens |
| limits            | how much one client, and all together, may take                  |
"""
