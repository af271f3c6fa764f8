"""A statement as PostgreSQL means it: one pass for each construct.

| module           | what it does                                                    |
| ---------------- | --------------------------------------------------------------- |
| passes           | a statement as PostgreSQL means it: one pass for each construct |
| integer_division | divisions of integers, which are integers                       |
| numeric          | casts to numeric, and rounding                                  |
| row_comparison   | comparisons of row values                                       |
| text             | casts of numbers and booleans to text, substrings               |
| blank_padded     | casts to char(n), which is filled with blanks                   |
| pattern_match    | LIKE, SIMILAR TO, regular expressions                           |
| json_path        | paths into JSON constants                                       |
| date_time        | EXTRACT, to_char(), intervals                                   |
| to_char          | to_char()'s patterns for moments                                |
| to_char_number   | to_char()'s patterns for numbers                                |
| time_zone        | AT TIME ZONE, casts to timestamptz                              |
| array_operators  | = ANY and <> ALL of arrays                                      |
| column_names     | names of unnamed columns that the statement uses                |
"""
