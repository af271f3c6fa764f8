"""Reads the YAML file into the schema; every fault has its line.

| module        | what it does                                                      |
| ------------- | ----------------------------------------------------------------- |
| load          | reads a schema file into the model                                |
| all_faults    | all faults of a file, not the first alone                         |
| yaml_document | reads YAML into plain data, and finds the lines of its values     |
| file_format   | the sections of the file and their keys                           |
| identifiers   | which names are allowed, and which count as equal                 |
| table         | one table: its columns, key and limits                            |
| view          | views, as they are written                                        |
| values        | bounds and values in the canonical form of a column's type        |
| hidden_values | columns whose values people hid before they were collected        |
| unit_path     | whose rows a table's are: paths from its columns to an entity     |
| budget        | budget, per-query shares and analysts' caps                       |
| paths         | where source, ledger and anchor lie on disk                       |
| csv_form      | how CSV files are written                                         |
| column_types  | types and columns that the file leaves out, from the source       |
"""
