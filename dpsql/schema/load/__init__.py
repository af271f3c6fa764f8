"""Reads the YAML file into the schema; every fault has its line.

| module        | what it does                                                      |
| ------------- | ----------------------------------------------------------------- |
| load          | reads a schema file into the model                                |
| all_faults    | all faults of a file, not the first alone                         |
| yaml_document | reads YAML into plain data, and finds the lines of its values     |
| file_format   | the sections of the file and their keys                           |
| identifiers   | which names are allowed, and which count as equal                 |
| table_section | one table: its columns, key, limits, size and owner                |
| view          | views, as they are written                                        |
| values        | bounds and values in the canonical form of a column's type        |
| budget        | budget, per-query shares and analysts' caps                       |
| sampling      | the part of the units that all answers are of                     |
| paths         | where source, ledger and anchor lie on disk                       |
| spill         | where what memory doesn't hold is written                         |
| csv_form      | how CSV files are written                                         |
"""
