"""A server of the Model Context Protocol: an assistant asks a dataset by tools.

What it asks is SQL, and goes through the same session as every other client's. Limits of what it
may spend are the server's: no argument, no option of a statement and no new connection loosens
them. Nothing that is free depends on private rows.

| module          | what it does                                                                |
| --------------- | --------------------------------------------------------------------------- |
| server          | the SDK's server: names of tools and resources → what they answer            |
| transport       | one client over stdin and stdout, or several over HTTP on this machine       |
| tools           | the tools as clients are told of them: what they take, give and change       |
| tool_arguments  | what each tool takes                                                         |
| tool_results    | what each tool gives                                                         |
| resources       | budget, tables and kept tables as resources                                  |
| tool_service    | answers tools: the one place that asks the session                           |
| schema_listing  | the schema as declared, never anything of its rows                           |
| json_rows       | an answer's rows as JSON                                                     |
| spending_limit  | what the server may still spend, beside what others have and the dataset      |
| statement_queue | statements one after another, each stopped when its caller or its time is gone |
| approval        | a human is asked before a statement above a price                            |
| error_fields    | errors as fields, with a correction that can be applied                      |
| options         | what the server is started with                                              |

Absolute imports from `mcp` are the SDK's.
"""
