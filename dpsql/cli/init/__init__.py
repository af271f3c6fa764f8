"""`dpsql init`: a schema file to be edited, from a source's catalogue.

| module          | what it does                                                    |
| --------------- | --------------------------------------------------------------- |
| options         | the command's arguments and options                             |
| command         | reads a source of any kind, and writes the schema file          |
| calibrated      | `dpsql init --calibrate`: also asks, and draws ladders          |
| unit_questions  | whose rows each table has, asked or answered beforehand         |
| draft           | a dataset's tables before their owner has decided on privacy    |
| from_database   | a draft from a DuckDB file or a folder of Parquet and CSV files |
| from_server     | a draft from PostgreSQL, or from Spark                          |
| from_smartnoise | a draft from a metadata file of SmartNoise                      |
| csv_form        | how a CSV file is written, by its line of names                 |
| sampled_types   | types of CSV columns, read off their first rows                 |
| schema_yaml     | a draft as YAML, with the owner's decisions as comments         |
"""
