"""A dialect for SQLAlchemy 1.4 and 2, `dpsql:///schema.yaml?analyst=alice`, and one for Superset.

| module     | what it does                                                               |
| ---------- | -------------------------------------------------------------------------- |
| dialect    | connects by URL, and declares which features dpsql has                     |
| compiler   | SQLAlchemy's expressions and types as SQL that dpsql reads                 |
| reflection | the schema's tables as SQLAlchemy describes tables                         |
| superset   | the engine as Superset knows it: time grains, and errors with their hints  |

Nothing here is imported before SQLAlchemy or Superset asks for it by its entry point.
"""
