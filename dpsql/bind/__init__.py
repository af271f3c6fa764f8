"""SQL text → logical plan, by allow-list: what has no rule here is refused before data are read.

| module     | what it binds                                                        |
| ---------- | -------------------------------------------------------------------- |
| parse      | text → one syntax tree, within limits; places of its nodes            |
| statement  | the whole statement: bind(), and what kind of statement it is         |
| select     | SELECT: grouping, the frontier, HAVING, ORDER BY, LIMIT               |
| relation   | FROM: tables, joins, proofs that joined rows share their unit         |
| expression | scalar expressions, with their types                                  |
| aggregate  | aggregate calls                                                       |
| scope      | names → columns                                                       |
| literal    | constants                                                             |
| coercion   | DuckDB's rules for the types of operators                             |
| allow      | which parts of a syntax node may be present                           |
"""
