"""`dpsql mcp`: the server that assistants connect to.

| module     | what it does                                         |
| ---------- | ---------------------------------------------------- |
| command    | the command and its options; runs the server         |
| short_log  | the server's log, without tracebacks                 |
"""
