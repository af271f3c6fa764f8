r"""The console: statements typed at a prompt, answered below it.

| module             | what it does                                                         |
| ------------------ | -------------------------------------------------------------------- |
| repl               | reads, asks, prints, until the end of input                          |
| prompt             | the line editor: prompt, history, several lines until `;`            |
| completion         | tables, columns, functions and keywords that fit where the cursor is |
| backslash_commands | what begins with a backslash                                         |
| schema_listing     | what `\d`, `\dt` and `\l` show of the schema                         |
| state              | what the loop and its commands have in front of them                 |
| display_settings   | what is switched on and off, and where answers go                    |
| cost_confirmation  | asks before a query that takes much of what is left                  |
| statement_progress | one statement at work, stopped by Ctrl-C                             |
| harlequin          | an adapter for Harlequin, a full-screen SQL IDE                      |
"""
