"""Dpsql's own statements: SET, SHOW, EXPLAIN PRIVACY, CREATE RELEASE, CALIBRATE, OPTIONS.

| module        | what it does                                                          |
| ------------- | --------------------------------------------------------------------- |
| parse         | EXPLAIN PRIVACY, SHOW and SET, told from queries by their first words |
| assignment    | the settings by name, and a change of one of them                     |
| create_release | CREATE RELEASE, and what all that keep a table are read into        |
| synopsis      | CREATE SYNOPSIS: its keys, rounds and price                           |
| dashboard     | CREATE DASHBOARD: its charts, and its price                           |
| alert         | CREATE ALERT, CHECK ALERT, and the table of one's alerts              |
| batch         | which statements a batch has                                          |
| calibrate     | CALIBRATE: its price, and the name of its ladders                     |
| describe      | SHOW TABLES and DESCRIBE: what the schema declares                    |
| options       | OPTIONS (…): settings of one statement                                |
| settings      | the settings that SET changes, beside epsilon                         |
| show_setting  | a setting's value, or a table                                         |
| show_queries  | what the analyst's own statements cost                                |
| show_releases | the kept tables that the analyst may read                             |
"""
