"""Execution without privacy: a locked DuckDB runs our own statements and hands out sealed rows.

| module         | what it does                                                              |
| -------------- | ------------------------------------------------------------------------- |
| engine         | what any engine offers to the layers above                                |
| source         | where the rows are, as a small value that crosses processes               |
| duckdb         | the engine on DuckDB: open, lock, run, interrupt                          |
| constant       | what the engine makes of constants, without any data                      |
| postprocessing | the same without a source, for what is computed from released tables      |
| enclosure      | copies of what is nobody's secret, for text that analysts wrote           |
| aside          | a process in which such text runs, and which can be ended                 |
| telling        | functions that tell of the engine or the host, by its own list            |
| cause          | why the engine failed, for the log of whoever runs the process            |
| most           | how much of public rows is read at once                                   |
| result         | its rows as Arrow                                                         |
| raw            | the sealed result: only `release` looks inside                            |
| lockdown       | the settings that shut the host out and fix the meaning of SQL            |
| semantics      | the start-up test of what our SQL means on this version of the engine     |
| catalogue      | names and types of a source's tables, never anything of their rows        |
| declaration    | keys, references and comments that a DuckDB file declares                 |
| view           | each declared table as statements see it: its declared columns, cast      |
| delimited      | CSV files: everything is text, nothing is sniffed                         |
| sidecar        | a file beside the source: rows with their units, in their order            |
| made_of        | how many rows its tables have, counted when it is made and opened          |
| beside         | what stands beside each row there: how many rows its unit has              |
| unit_sums      | what it has of each unit: how many rows, and what their values add up to   |
| readable       | can all that is stored be read                                            |
| unfinished     | files that are being written, and what killed processes left of them      |
| digest         | digests that outlive names: how values are written in them                 |
| fingerprint    | which version of the data the source's files hold                         |

Lock-down is the second wall: it protects the host, not the rows. The first is that only SQL
rendered from our own plan ever reaches an engine that has a private row, and that only `release`
opens `Raw`.
"""
