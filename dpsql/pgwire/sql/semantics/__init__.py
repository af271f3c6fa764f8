"""A statement as PostgreSQL means it: one pass for each construct.

| module           | what it does                                                    |
| ---------------- | --------------------------------------------------------------- |
| passes           | a statement as PostgreSQL means it: one pass for each construct |
| integer_division | which divisions are of integers                                 |
| numeric          | numeric, and rounding                                           |
| row_comparison   | comparisons of row values                                       |
| text             | texts of numbers and booleans, parts of texts                   |
| pattern_match    | LIKE, SIMILAR TO, regular expressions                           |
| date_time        | parts and lengths of time                                       |
| to_char          | to_char()'s patterns                                            |
| array_operators  | = ANY of arrays                                                 |
| column_names     | names of unnamed columns where the statement uses them          |
"""
