"""`dpsql check`: compares a schema with its source, and verifies and records declared keys.

| module      | what it does                                             |
| ----------- | -------------------------------------------------------- |
| command     | the command: reads the schema and all rows, and reports  |
| limits_text | what limits leave out, in words for the owner            |
| cuts_table  | what limits and bounds cut off, and which would cut less |
| table_size  | sizes that are declared, and where the data have others  |
"""
