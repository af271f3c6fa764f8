"""Operators as SELECTs.

| module            | what it does                                                     |
| ----------------- | ---------------------------------------------------------------- |
| counts_below_join | stored rows are counted before they meet others of their unit    |
| relation          | operators as SELECTs; the unit comes along in every private one  |
| resized_table     | a table of which a hash leaves out the rows that are too many    |
| scan_and_join     | tables and joins: private rows meet where their units agree      |
"""
