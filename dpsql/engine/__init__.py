"""Execution without privacy: a locked DuckDB runs our own statements and hands out sealed rows.

| module            | what it does                                                         |
| ----------------- | -------------------------------------------------------------------- |
| sandbox           | runs SQL that analysts wrote, over public rows alone                 |
| engine            | what any engine offers to the layers above                           |
| source            | where the rows are, as a small value that crosses processes          |
| opening           | which engine a source is opened with                                 |
| supported         | what of a statement a server computes itself                         |
| needed_columns    | which tables and columns a statement reads                           |
| computed_rows     | rows that a server computed, in the types that are asked for         |
| connection_string | what of a server's address may be shown, and what it leaves out      |
| duckdb            | DuckDB, which runs every statement                                   |
| postgres          | a PostgreSQL server, which computes, or whose rows are pulled        |
| spark             | a Spark cluster, which computes of its own rows                      |
| table_cache       | what is kept of private rows, in memory, while an engine is open     |
| read_limit        | how many public rows and bytes one statement may return              |
| arrow_result      | rows of a result as Arrow                                            |
| raw               | the sealed result: only `release` looks inside                       |
| sidecar           | the file that `dpsql prepare` writes beside the ledger               |
| atomic_file       | files that are being written, and what killed processes left of them |
| fingerprint       | which version of the data the source's files hold                    |
| digest            | digests that don't depend on names in the code, and their encoding   |

Lock-down is the second wall: it protects the host, not the rows. The first is that only SQL
rendered from our own plan ever reaches an engine that has a private row, and that only `release`
opens `Raw`.
"""
