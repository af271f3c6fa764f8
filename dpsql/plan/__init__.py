"""The logical plan: relational operators and scalar expressions, as frozen data.

| module     | what it defines                                                          |
| ---------- | ------------------------------------------------------------------------ |
| expression | scalar expressions, each with its type                                   |
| function   | the registry of scalar functions: types, domain, total form, one entry each |
| operator   | relational operators                                                     |
| bounded    | what a release becomes: terms, partials, limits, statistics, formulas     |
| tree       | traversals that never list operators                                     |
| lineage    | whose rows a relation holds; which column is the unit                     |
"""
