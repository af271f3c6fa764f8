"""`dpsql prepare` on a server: what its sidecar has to be, and how it is made.

| module         | what it does                                                           |
| -------------- | ---------------------------------------------------------------------- |
| server_sidecar | the sidecar of a schema: its name, its stamp, and the note that it's there |
| server_tables  | makes it: what is stored of each table, as statements for the server   |
"""
