"""`dpsql mcp`: the server that assistants ask.

| module     | what it does                                         |
| ---------- | ---------------------------------------------------- |
| command    | its options; runs it until its client leaves         |
| short_log  | what it logs, without what was raised                |
"""
