"""How rows are counted in memory, put in the order of the file, and written.

| module        | what it does                                                           |
| ------------- | ---------------------------------------------------------------------- |
| row_order     | counts rows in memory, puts them in order and writes them              |
| row_hashes    | keyed hashes of rows and of values, by which they have their places    |
| few_values    | ranks of a unit's values of a column that has few                      |
| value_counts  | counts the rows of each unit by the values of a column, with numpy     |
| packed_counts | a row's four counts of a column, which are one integer meanwhile       |
| compression   | how columns are compressed, where DuckDB needn't find it out           |
"""
