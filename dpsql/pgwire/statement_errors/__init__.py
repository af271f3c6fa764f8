"""PostgreSQL's errors of statements that have no answer here, where they have none there either.

| module           | what it does                                                        |
| ---------------- | ------------------------------------------------------------------- |
| postgresql_error | the first error of a statement, in the order in which it is read    |
| functions        | calls of functions that don't exist, for the types of arguments     |
| operand_types    | operators, conditions and units, for the types of their operands    |
| signatures       | which functions and operators PostgreSQL has for some types         |
| overflow         | numerics of more digits than the pipeline's decimals have           |
"""
