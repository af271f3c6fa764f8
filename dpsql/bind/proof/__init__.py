"""Joins of private rows with other private rows, and with public ones.

| module                | what it does                                                        |
| --------------------- | ------------------------------------------------------------------- |
| join_ownership        | proofs that joined private rows share their unit                    |
| unmatched_public_rows | releases over outer joins that keep unmatched public rows           |
| unmatched_row_count   | counts and sums that include unmatched public rows                  |
| partner_existence     | joins that only test public rows for a private partner              |
"""
