"""PostgreSQL's types of a statement's columns, expressions and parameters.

| module              | what it does                                                           |
| ------------------- | ---------------------------------------------------------------------- |
| pg_type             | PostgreSQL's types, and the types of operators' values                 |
| expression_types    | the type of each expression, derived from the schema's columns         |
| return_types        | functions whose values have one type                                   |
| column_source       | the table or query that a column's name refers to                      |
| output_types        | types of columns that PostgreSQL tells apart, and the pipeline doesn't |
| parameter_types     | the types of parameters, from the expressions around them              |
| constant_parameters | parameters that are written into a statement as constants              |
"""
