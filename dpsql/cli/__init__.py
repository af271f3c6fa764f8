"""The command line: `dpsql init`, `check`, `query`, `explain`, `budget`, `serve`, `mcp`, `demo` ….

| module            | what it does                                                                |
| ----------------- | --------------------------------------------------------------------------- |
| audit             | `dpsql audit`: attempts to break the guarantee, on synthetic databases      |
| demo              | a first run on generated data                                               |
| budget            | `dpsql budget`: spent and remaining budget, and the ledger's entries        |
| main              | the commands and their options; catches every exception                     |
| deferred_commands | imports commands when they are named or listed                              |
| init              | `dpsql init`: a schema file to be edited, from a source's catalogue         |
| query             | runs one statement: answer to stdout, its cost to stderr                    |
| explain           | `dpsql explain`: a query's price and proof                                  |
| options           | arguments and options that several commands take                            |
| check             | `dpsql check`: compares a schema with its source, and verifies keys         |
| calibrate         | `dpsql calibrate`: ladders, by which each query's limits are chosen         |
| prepare           | `dpsql prepare`: writes the sidecar, a file next to the ledger              |
| console           | `dpsql console`: a prompt, or statements from a pipe                        |
| ledger            | `dpsql ledger`: an owner's commands to verify, amend, back up a ledger      |
| log               | the log of a server, without control characters                             |
| serve             | `dpsql serve`: runs the server that BI tools connect to                     |
| mcp               | `dpsql mcp`: runs the server that assistants connect to                     |
| user              | `dpsql user`: who may log in to `dpsql serve`                               |
| exit_codes        | errors become messages and exit codes                                       |

Modules that import engines are imported inside the commands, so that `dpsql --help` is fast.
"""
