r"""The console: statements typed at a prompt, answered below it.

| module     | what it does                                                             |
| ---------- | ------------------------------------------------------------------------ |
| loop       | reads, asks, prints, until the end of input                              |
| prompt     | the line editor: prompt, history, several lines until `;`                |
| completion | tables, columns, functions and keywords that fit where the cursor is     |
| statement  | where one statement ends and the next begins                             |
| command    | what begins with a backslash                                             |
| listing    | what `\d`, `\dt` and `\l` show of the schema                                |
| desk       | what the loop and its commands have in front of them                     |
| setting    | what is switched on and off, and where answers go                        |
| question   | asks before a query that takes much of what is left                      |
| running    | one statement at work, stopped by Ctrl-C                                 |
| answer     | an answer as a table with its noise, dim where it is all noise, and bars |
| harlequin  | an adapter for Harlequin, a full-screen SQL IDE                          |
"""
