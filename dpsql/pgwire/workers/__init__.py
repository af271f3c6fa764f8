"""The only processes that open the data: they take jobs, and reply released tables or one failure.

No private row is in the server's process, so that no fault of the protocol or of a parser, and no
statement of a client, can show one. The server's process reads only
- the schema file, and of the data's files the times and sizes that `stat` gives, which show whether
  they changed; workers read the types that the schema leaves out, and the data's fingerprint;
- released tables and public ones, which workers send: everything above a release, ORDER BY or a
  join with a public table, runs on a DuckDB of the server that is locked and has no source;
- rows filled from the schema, and copies of public tables, which other workers load to run text
  that analysts wrote: queries of the catalogue, and statements over public tables alone.

| module            | what it does                                                            |
| ----------------- | ----------------------------------------------------------------------- |
| tasks             | tasks for a worker, and its replies as bytes                            |
| worker            | the process: opens sources, runs tasks, one at a time                   |
| running_task      | the task that a worker runs now, and the one that was interrupted       |
| fork_origin       | what a process imports before workers are forked from it                |
| processor_affinity | threads of the server stay on one processor; workers have all          |
| supervisor        | one worker seen from the server: its watchdog, and its replacement      |
| pool              | workers, lent to tasks in the order in which the tasks came             |
| admission_queue   | statements that wait for their turn, in the order in which they came    |
| remote_engine     | the engine that a session of the server sees                            |
| remote_execution  | the engines of one session of the server: what it charges, a worker runs |
| catalog_pool      | workers that answer queries of the catalogue, and open no data          |
| public_statements | statements over public tables alone, run by the catalogue's workers     |
"""
