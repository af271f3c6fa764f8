"""A server of the Model Context Protocol: an assistant queries a dataset by tools.

The assistant's SQL goes through the same session as that of every other client. The server limits
the budget that the assistant may spend: no argument, no option of a statement and no new connection
loosens these limits. Nothing that is free depends on private rows.

| module          | what it does                                                                |
| --------------- | --------------------------------------------------------------------------- |
| server          | the SDK's server: calls of tools and reads of resources → replies           |
| transport       | one client over stdin and stdout, or several over HTTP on this machine      |
| tools           | the tools' descriptions for clients: arguments, results, whether they spend |
| tool_arguments  | the arguments of each tool                                                  |
| tool_results    | the result of each tool                                                     |
| resources       | budget, tables and saved releases as resources                              |
| tool_service    | answers tools: the one place that uses the session                          |
| calls           | refusals, answers and corrections of a call                                 |
| schema_listing  | the schema as declared, never anything of its rows                          |
| json_rows       | an answer's rows as JSON                                                    |
| spending_limit  | the limits of what the server may spend, on top of the dataset's budget     |
| statement_queue | runs statements one by one; stops those that are late or lose their caller  |
| approval        | a human's approval of statements above a price                              |
| error_fields    | errors as fields, with a correction that can be applied                     |
| options         | the server's options                                                        |

Absolute imports from `mcp` are the SDK's.
"""
