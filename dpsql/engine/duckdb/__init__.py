"""DuckDB, the engine that runs every statement.

| module              | what it does                                                          |
| ------------------- | --------------------------------------------------------------------- |
| engine              | the engine on DuckDB: open, lock, run, interrupt                      |
| statement           | one SELECT on a cursor: sealed rows, or a failure without a reason    |
| constant_evaluation | values of functions of constants, by the engine and without any data  |
| postprocessing      | DuckDB without a source, for what is computed from released tables    |
| failure_cause       | why the engine failed, as fixed texts for the owner's log             |
| lockdown            | the settings that shut the host out and fix the meaning of SQL        |
| spill               | where what memory doesn't hold is written, and that it is enciphered  |
| semantics           | the start-up test of what our SQL means on this version of the engine |
| catalog             | names and types of a source's tables, never anything of their rows    |
| declared_keys       | keys, references and comments that a DuckDB file declares             |
| table_view          | each declared table as statements see it: its declared columns, cast  |
| sampled_view        | the rows of drawn units alone, where answers are of a sample          |
| csv                 | CSV files: everything is text, nothing is sniffed                     |
| read_check          | whether all stored rows can be read                                   |
"""
