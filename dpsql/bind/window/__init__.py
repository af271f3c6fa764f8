"""OVER.

| module         | what it does                           |
| -------------- | -------------------------------------- |
| window_summary | quantiles and variances over windows   |
| window         | window functions                       |
| frame          | frames of windows: ROWS, GROUPS, RANGE |
| window_clause  | WINDOW w AS (…)                        |
"""
