"""PostgreSQL's types of a statement's columns, expressions and parameters.

| module           | what it does                                                           |
| ---------------- | ---------------------------------------------------------------------- |
| pg_type          | PostgreSQL's types, and what operators make of them                    |
| expression_types | the type of each expression, derived from the schema's columns         |
| return_types     | functions whose values have one type                                   |
| column_source    | what a column's name stands for                                        |
| output_types     | types of columns that PostgreSQL tells apart, and the pipeline doesn't |
| parameter_types  | the types of parameters, from where they stand                         |
"""
