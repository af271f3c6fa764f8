"""`dpsql prepare` on a server: what its sidecar has to be, and how it is made.

| module         | what it does                                                               |
| -------------- | -------------------------------------------------------------------------- |
| server_sidecar | the sidecar of a schema: its name, its stamp, and the note that it's there |
| stored_scan    | what is stored of a table: what a scan of it reads                         |
| server_tables  | makes it on PostgreSQL                                                     |
| spark_tables   | makes it on Spark                                                          |
"""
