"""The sidecar: a file of rows and their units that `dpsql prepare` writes beside the ledger.

| module        | what it does                                                          |
| ------------- | --------------------------------------------------------------------- |
| file          | writes and attaches the file: rows with their units, in their order   |
| contents      | the sidecar's stamp, and how many rows its tables have                |
| update        | makes a file of the data before one of the data now                   |
| unit_digests  | digests of each unit's rows, by which units that changed are found    |
| row_columns   | the columns added to each row: its unit, and that unit's counts       |
| ordering      | counts rows in memory, puts them in order and writes them             |
| listed_texts  | texts of few values, which are read as numbers of a list              |
| row_parts     | reads rows in parts that memory has room for, over files if need be   |
| side_by_side  | work on two columns in memory at a time                               |
| range_check   | which columns have values beyond their bounds, in any row             |
| unit_sums     | the row of each unit: its number of rows, and sums of their values    |
| server        | the sidecar on a server: its schema, stamp and tables, as values      |
| server_counts | its columns that count a unit's rows, in the server's SQL             |
| named_record  | a small file that says what has certain names under a stamp           |
"""
