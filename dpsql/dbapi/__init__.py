"""PEP 249 over a session: connections, cursors, and the few statements that are dpsql's own.

| module     | what it defines                                                             |
| ---------- | --------------------------------------------------------------------------- |
| connect    | connect(): a schema file opened for one analyst                             |
| connection | `Connection`: one analyst's use of one dataset                              |
| cursor     | `Cursor`: statements in, rows out                                           |
| suggested_fix | what to write instead, where a refusal says so                           |
| statements | dpsql's own statements: SET, SHOW, EXPLAIN PRIVACY, CREATE RELEASE, OPTIONS |
"""
