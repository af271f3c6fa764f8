"""Values and their types as PostgreSQL's clients read them.

| module     | what it does                                |
| ---------- | ------------------------------------------- |
| oid        | SQL types → OIDs, sizes and modifiers       |
| text       | values → the text format                    |
| binary     | values → the binary format                  |
| array      | arrays in the text format → their items     |
| parameter  | parameters that a client binds → constants  |
| arrow_rows | rows that stay in Arrow until they are read |
| copy       | rows → the data of COPY: text, CSV, binary  |
"""
