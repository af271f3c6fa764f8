"""Processes that alone open the data: jobs in, released tables or one failure out.

Nothing private is in the server's process, so no fault of the protocol or of a parser, and no
statement of a client, can show it. What does run there reads nothing else than
- the schema file, and of the data's files what `stat` tells (that they changed); the types that
  the schema leaves out, and the data's fingerprint, are asked of workers;
- released tables and public ones, which workers send: everything above a release, ORDER BY or a
  join with a public table, runs on a DuckDB of the server that is locked and has no source;
- rows filled from the schema, and copies of public tables, which workers of their own load to run
  what analysts wrote: questions of the catalogue, and statements over public tables alone.

| module            | what it does                                                            |
| ----------------- | ----------------------------------------------------------------------- |
| tasks             | what a worker is asked to do, and its replies as bytes                  |
| worker            | the process: opens sources, runs tasks, one at a time                   |
| supervisor        | one worker seen from the server: its watchdog, and its replacement      |
| pool              | workers, handed out in the order in which they are asked for            |
| admission_queue   | statements that wait for their turn, in the order in which they came    |
| remote_engine     | the engines that a session of the server sees                           |
| catalog_pool      | processes that answer questions of the catalogue, and open nothing else |
| public_statements | statements over public tables alone, by the catalogue's processes       |
"""
