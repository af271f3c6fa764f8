"""Calls of PostgreSQL's functions in questions of the catalogue.

| module         | what it does                                                  |
| -------------- | ------------------------------------------------------------- |
| function_calls | calls for which no macro can stand, and rows about who asks   |
| json_text      | JSON of the catalogue's rows, with PostgreSQL's blanks        |
"""
