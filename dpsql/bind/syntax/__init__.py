"""Text → one syntax tree, within limits.

| module          | what it does                                                  |
| --------------- | ------------------------------------------------------------- |
| parse           | text → one syntax tree, within limits; places of its nodes    |
| placeholder     | `?` numbered in the order of the text                         |
| typed_constant  | a constant with its type's name, before a cast                |
| parameter       | the values of parameters, as typed constants                  |
| pivot_statement | PIVOT as a statement                                          |
| conjuncts       | the conjuncts of a condition                                  |
| complexity      | how large expressions and plans are once they are written out |
| construct_name  | what a construct without a rule is called in SQL              |
| allowlist       | which parts of a syntax node may be present                   |
| correction      | a refused statement, corrected as its error says              |
"""
