"""Joins of private rows with each other, and with public ones.

| module                | what it does                                                        |
| --------------------- | ------------------------------------------------------------------- |
| join_ownership        | proofs that joined private rows share their unit                    |
| unmatched_public_rows | outer joins that keep public rows, where rows are released          |
| unmatched_row_count   | how many public rows an outer join keeps, of counts of private ones |
| partner_existence     | joins that ask public rows whether they have a private partner      |
"""
