"""Integer statistics of the aggregates, and formulas back to columns.

| module                | what it does                                                          |
| --------------------- | --------------------------------------------------------------------- |
| statistics            | integer statistics of the aggregates, and formulas back to columns    |
| public_row_count      | statistics where the number of rows is public: a constant of formulas |
| discretization        | arguments as integer steps: how fine, within which bounds             |
| distinct_sum          | sums of distinct values, of which a unit brings so many               |
| canonical_filter      | one form of a filter, so that equal statistics are found equal        |
| clip_condition        | which rows have a value that bounds cut off                           |
| conditional_aggregate | conditions in an aggregate's argument become its filter               |
"""
