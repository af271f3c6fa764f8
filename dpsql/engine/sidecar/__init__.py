"""The file that `dpsql prepare` writes beside the ledger.

| module      | what it does                                                          |
| ----------- | --------------------------------------------------------------------- |
| file        | the file itself: rows with their units, in their order                |
| contents    | the sidecar's stamp, and how many rows its tables have                |
| row_columns | what the sidecar adds to each row: how many rows its unit has         |
| unit_sums   | what the sidecar has of each unit: its rows, and sums of their values |
"""
