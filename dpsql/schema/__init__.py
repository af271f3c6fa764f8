"""Annotated tables: what is private, whose it is, how large its values are, and what it costs.

| module    | what it does                                                        |
| --------- | ------------------------------------------------------------------- |
| type      | SQL types as dpsql knows them                                       |
| model     | the schema as frozen data                                           |
| budget    | what may be spent, as part of it                                     |
| decode    | a schema file to the model, every fault with its line and its fix   |
| document  | YAML to plain data that knows its lines                             |
| form      | the sections of the file and their keys                             |
| name      | names that mean the same to everyone                                |
| qualified | names of tables with a schema, and what each of them means           |
| table     | one table: its columns, key and limits                              |
| view      | views, as they are written                                          |
| value     | bounds and values in the canonical form of a column's type          |
| ownership | whose rows a table's rows are: unit paths to their entity           |
| allowance | budget, per-query shares and analysts' caps                         |
| period    | budgets that are refreshed: which rows have one of their own         |
| refresh   | how often budgets are refreshed, and the days of each                |
| location  | where source, ledger and anchor lie                                 |
| reading   | how columns of each of DuckDB's types are read, or why they aren't    |
| catalogue | types that the file leaves out, from the source's catalogue         |
| policy    | what a ledger holds its owner to, as text and as its hash           |
| looser    | what one policy allows that another didn't                          |
| counted   | the columns by whose values a sidecar counts each unit's rows        |
| bounded   | the columns that a sidecar compares with their bounds               |
| summed    | the columns whose values a sidecar sums for each unit               |
| said      | what randomised answers lose that are shown without noise            |
| keys      | are declared keys unique in this version of the data                |
"""
