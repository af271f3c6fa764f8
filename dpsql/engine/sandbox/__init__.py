"""Runs SQL that analysts wrote, over public rows alone.

| module                  | what it does                                                    |
| ----------------------- | --------------------------------------------------------------- |
| database                | databases with copies of public rows, for analysts' own SQL     |
| process                 | a process in which such SQL runs, and which can be killed       |
| introspection_functions | functions that reveal the engine or the host, by DuckDB's list  |
"""
