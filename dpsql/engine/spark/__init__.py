"""A Spark cluster, reached by Spark Connect, that computes releases of its own tables.

| module     | what it does                                                        |
| ---------- | ------------------------------------------------------------------- |
| address    | sc://host:port, and the folder of Parquet files that it may name    |
| connection | how sessions are opened, and what they are set to                   |
| session    | a session and its statements; what the server says stays in         |
| semantics  | what Spark computes, and claims about what our SQL means there      |
| moments    | timestamps that one far moment would fail for all                    |
| tables     | kinds and columns of the declared tables, and the views of them     |
| catalog    | tables and columns that a schema may declare                         |
| sidecar    | what `dpsql prepare` stores in Spark's catalog                      |
| snapshot   | one session for all statements of a release                         |
| engine     | opens and checks the source, and hands out snapshots                |
| read_check | how many rows each table has, for its owner                         |

pyspark is imported where a session is opened, and nowhere else: it takes a second.
"""
