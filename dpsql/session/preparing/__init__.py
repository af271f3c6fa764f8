"""What `dpsql prepare` has made or would make, and how it makes a sidecar on a server.

| module         | what it does                                                               |
| -------------- | -------------------------------------------------------------------------- |
| server_sidecar | the sidecar of a schema: its name, its stamp, and the note that it's there |
| stored_scan    | what is stored of a table: what a scan of it reads                         |
| status         | what a sidecar's file has, and what making it would take                   |
| renewal        | has a sidecar's file made in the background when data are new              |
| server_tables  | makes it on PostgreSQL                                                     |
| spark_tables   | makes it on Spark                                                          |
"""
