"""What all dialects share: identifiers, and the texts of nodes.

| module            | what it does                                                    |
| ----------------- | --------------------------------------------------------------- |
| identifier        | identifiers: every column is c<id>, every schema name is quoted |
| clauses           | lists, sources and joins of a SELECT, as nodes                  |
| writer            | what writers of one kind of node share                          |
| expression_writer | names, constants, and what is computed of them, as text         |
| query_writer      | queries and their clauses as text                               |
| parameter_mark    | what stands in SQL for a generic plan's constants     |
| server_writer     | those of both that servers write alike                          |
"""
