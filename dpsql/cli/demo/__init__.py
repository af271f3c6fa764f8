"""`dpsql demo`: a first run on generated data.

| module      | what it does                                  |
| ----------- | --------------------------------------------- |
| tour        | the run itself, from the schema to the budget |
| data        | the tables, by a fixed public recipe          |
| schema.yaml | what their owner declares of them             |
"""
