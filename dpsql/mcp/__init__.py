"""A server of the Model Context Protocol: an assistant asks a dataset by tools.

What it asks is SQL, and goes through the same session as every other client's. Limits of what it
may spend are the server's: no argument, no option of a statement and no new connection loosens
them. Nothing that is free depends on private rows.

| module    | what it does                                                                |
| --------- | --------------------------------------------------------------------------- |
| server    | the SDK's server: names of tools and resources → what they answer            |
| transport | one client over stdin and stdout, or several over HTTP on this machine       |
| tool      | the tools as clients are told of them: what they take, give and change       |
| argument  | what each tool takes                                                         |
| reply     | what each tool gives                                                         |
| resource  | budget, tables and kept tables as resources                                  |
| desk      | answers tools: the one place that asks the session                           |
| listing   | the schema as declared, never anything of its rows                           |
| rows      | an answer's rows as JSON                                                     |
| purse     | what the server may still spend, beside what others have and the dataset      |
| turn      | statements one after another, each stopped when its caller or its time is gone |
| approval  | a human is asked before a statement above a price                            |
| failure   | errors as fields, with a correction that can be applied                      |
| option    | what the server is started with                                              |

Absolute imports from `mcp` are the SDK's.
"""
