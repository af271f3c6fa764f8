"""One table of a schema file.

| module        | what it does                                                   |
| ------------- | -------------------------------------------------------------- |
| table         | one table: its columns, key and limits                         |
| column_types  | types and columns that the file leaves out, from the source    |
| hidden_values | columns whose values people hid before they were collected     |
| unit_path     | whose rows a table's are: paths from its columns to an entity  |
| row_norm      | columns that are bounded together, by a norm of each row       |
| table_size    | what is public of the number of a table's rows                 |
"""
