"""What is proved about a plan: whose rows it holds, what they may be, how far neighbours push it.

| module      | analysis                                                             |
| ----------- | -------------------------------------------------------------------- |
| lineage     | public, private or released; the unit column                         |
| identity    | the columns that tell apart whose rows are, alone or together         |
| agreement   | conditions by which rows that are asked for are of the unit that asks  |
| dependency  | what the unit determines; is there one row per unit                  |
| stem        | the one table whose rows a relation's rows stem from                  |
| domain      | values of every expression: interval, finite set, NULL               |
| environment | the same for the columns that operators hand on                      |
| narrowing   | domains after a predicate                                            |
| finite      | expressions over columns of few values, computed                     |
| computed    | values of expressions, row by row                                     |
| constant    | expressions whose columns are known, most of all to be NULL            |
| public_part | the public rows that private ones can meet: keys to be listed         |
| public_rows | how many rows there are, where that is public                         |
| responses   | columns of randomised answers, and conditions on them                |
| answers_alone | is a release made of randomised answers alone                      |
| distance    | stability of each operator: distance out, given distance in          |
| joint       | statistics that can't all be extreme at once                          |
| sensitivity | of a bounded release: groups and integers per group that can change  |
| chain       | a release's operators as text, each with its distance                 |
"""
