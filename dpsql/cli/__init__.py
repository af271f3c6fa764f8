"""The command line: `dpsql init`, `check`, `query`, `explain`, `budget`, `serve`, `mcp`, `demo` ….

| module     | what it does                                                                |
| ---------- | --------------------------------------------------------------------------- |
| audit      | what was tried against the promise, on synthetic databases                  |
| demo       | a first run on generated data                                               |
| budget     | `dpsql budget`: what was spent and is left, by whom and on what             |
| main       | the commands and their options; the last line of defence against tracebacks |
| init       | a schema file to be edited, from a source's catalogue                       |
| query      | runs one statement: answer to stdout, its cost to stderr                    |
| explain    | what a query would cost, and why                                            |
| options    | arguments and options that several commands take                            |
| check      | a schema against its source; verifies declared keys                         |
| prepare    | what every query needs again, in a file beside the ledger                   |
| console    | a prompt, or statements from a pipe                                         |
| ledger     | what an owner does with a ledger: verify, amend, back up                    |
| log        | what a server logs, made visible                                            |
| serve      | runs the server that BI tools connect to                                    |
| mcp        | `dpsql mcp`: runs the server that assistants ask                            |
| user       | who may log in to it                                                        |
| exit_codes | errors become messages and exit codes                                       |

Imports of what opens engines stand inside the commands: `dpsql --help` is to answer at once.
"""
