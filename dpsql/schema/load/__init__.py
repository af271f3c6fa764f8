"""The YAML file becomes the schema; every fault has its line.

| module        | what it does                                                      |
| ------------- | ----------------------------------------------------------------- |
| load          | a schema file to the model, every fault with its line and its fix |
| all_faults    | all that is wrong with a file, one fault after the other          |
| yaml_document | YAML to plain data that knows its lines                           |
| file_format   | the sections of the file and their keys                           |
| identifiers   | names that mean the same to everyone                              |
| table         | one table: its columns, key and limits                            |
| view          | views, as they are written                                        |
| values        | bounds and values in the canonical form of a column's type        |
| unit_path     | whose rows a table's rows are: unit paths to their entity         |
| budget        | budget, per-query shares and analysts' caps                       |
| paths         | where source, ledger and anchor lie                               |
| undeclared_columns | columns that the file leaves out, from the source |
| column_types  | types that the file leaves out, from the source's catalogue       |
"""
