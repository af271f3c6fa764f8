"""What clients write, in PostgreSQL's dialect, before it is the pipeline's.

| module    | what it does                                                           |
| --------- | ---------------------------------------------------------------------- |
| command   | statements that are answered by the connection itself, told by words   |
| copying   | COPY: its query and its options                                        |
| dialect   | PostgreSQL's dialect → the pipeline's, with places and names kept      |
| spoken    | PostgreSQL's grammar, with functions kept as written                   |
| meaning   | a statement as PostgreSQL means it: one pass for each construct        |
| kind      | PostgreSQL's types, and what operators make of them                    |
| typing    | the type of each expression, derived from the schema's columns         |
| result    | functions whose values have one type                                   |
| source    | what a column's name stands for                                        |
| division  | which divisions are of integers                                        |
| number    | numeric, and rounding                                                  |
| row       | comparisons of row values                                              |
| text      | texts of numbers and booleans, parts of texts                          |
| pattern   | LIKE, SIMILAR TO, regular expressions                                  |
| moment    | parts and lengths of time                                              |
| template  | to_char()'s patterns                                                   |
| array     | = ANY of arrays                                                        |
| naming    | names of unnamed columns where the statement uses them                 |
| label     | what PostgreSQL calls columns without a name                           |
| output    | types of columns that PostgreSQL tells apart, and the pipeline doesn't |
| inference | the types of parameters, from where they stand                         |
| probe     | questions for columns alone, answered without rows                     |
"""
