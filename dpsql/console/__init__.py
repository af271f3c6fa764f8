r"""The console: statements typed at a prompt, answered below it.

| module             | what it does                                                         |
| ------------------ | -------------------------------------------------------------------- |
| repl               | the loop: reads statements, runs them, prints answers                |
| prompt             | the line editor: prompt, history, several lines until `;`            |
| completion         | tables, columns, functions and keywords that fit where the cursor is |
| backslash_commands | the commands that begin with a backslash                             |
| schema_listing     | the listings of `\d`, `\dt` and `\l`, from the schema                |
| state              | the state that the loop and its commands share                       |
| display_settings   | switches of the display, and the file that answers go to             |
| cost_confirmation  | asks before a query that takes much of the remaining budget          |
| statement_progress | runs one statement, which Ctrl-C stops                               |
| named_queries      | queries that are kept under names, in a file                         |
| statement_help     | the listings of `\h` and `\df`: statements and functions             |
| harlequin          | an adapter for Harlequin, a full-screen SQL IDE                      |
"""
