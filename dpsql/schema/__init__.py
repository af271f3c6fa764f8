"""The annotated schema: which tables are private, whose their rows are, domains, and budgets.

| module                   | what it does                                                       |
| ------------------------ | ------------------------------------------------------------------ |
| load                     | the YAML file becomes the schema; every fault has its line         |
| sql_type                 | SQL types as dpsql knows them                                      |
| model                    | the schema as frozen data                                          |
| budget                   | what may be spent: by all statements on a dataset, and by one      |
| qualified_name           | names of tables with a schema, and which table a name means        |
| sampling                 | answers over a sample of the units: what that makes of ε           |
| refresh_period           | budgets that are refreshed: which rows have one of their own       |
| refresh_schedule         | how often budgets are refreshed, and the days of each              |
| source_types             | how columns of each of DuckDB's types are read, or why they aren't |
| policy                   | what a ledger holds its owner to, as text and as its hash          |
| policy_diff              | in what a policy is looser than an earlier one                     |
| sidecar_columns          | the columns that a sidecar counts by, sums, or compares            |
| randomized_response_loss | the privacy loss of randomised answers shown without noise         |
| source_location          | where the rows are, as the schema names it: files, or a server     |
| verify                   | whether declared keys are unique in this version of the data       |
"""
