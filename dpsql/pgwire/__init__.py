"""A server that speaks PostgreSQL's protocol: BI tools connect to it as to PostgreSQL 15.

| module            | what it does                                                     |
| ----------------- | ---------------------------------------------------------------- |
| catalog           | pg_catalog and information_schema, filled from the schema alone  |
| codec             | values and their types as PostgreSQL's clients read them         |
| sql               | statements in PostgreSQL's dialect → statements of the pipeline  |
| statement_errors  | PostgreSQL's errors of names and types that don't exist          |
| workers           | the only processes that open the data                            |
| settings          | settings of a connection, which ROLLBACK reverts                 |
| answering         | answers as messages, and what became of the statement that runs  |
| protocol          | bytes in, messages out: the protocol without sockets             |
| server            | listening, logins, and a task for each client                    |
| connection_stream | one socket: messages in, bytes out                               |
| message_handler   | one client's statements: messages in, bytes out                  |
| immediate_answers | what the event loop answers by itself, since it was given before |
| executor          | one connection's statements: commands, portals, cursors          |
| prepared_queries  | prepared statements and cursors: read, described, answered       |
| named_objects     | one connection's prepared statements and portals, by name        |
| login             | who may connect                                                  |
| portal            | prepared statements, and answers that are read in parts          |
| query_service     | a statement's columns for free, its rows for its price           |
| error_response    | errors as PostgreSQL's clients read them                         |
| monitoring        | what the operator sees: metrics, health, errors                  |
| shared_dataset    | schema, workers and catalogue, which all connections share       |
| options           | the server's options, checked before it listens                  |
| limits            | limits of one client, and of all clients together                |
"""
