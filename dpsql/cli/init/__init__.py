"""`dpsql init`: a schema file to be edited, from what a source's catalogue says.

| module          | what it does                                                    |
| --------------- | --------------------------------------------------------------- |
| command         | finds out what the source is, and writes the file               |
| draft           | what is known of tables before their owner decides              |
| from_database   | a draft from a DuckDB file or a folder of Parquet and CSV files |
| from_server     | a draft from a PostgreSQL database                              |
| from_smartnoise | a draft from a metadata file of SmartNoise                      |
| sampled_types   | types of CSV columns, read off their first rows                 |
| schema_yaml     | a draft as YAML, with what is to be decided in its comments     |
"""
