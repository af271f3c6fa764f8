"""Text → one syntax tree, within limits.

| module          | what it does                                                  |
| --------------- | ------------------------------------------------------------- |
| parse           | text → one syntax tree, within limits; places of its nodes    |
| placeholder     | `?` numbered by its place in the text                         |
| parameter       | values given beside the text, as typed constants              |
| pivot_statement | PIVOT as a statement                                          |
| complexity      | how large expressions and plans are once they are written out |
| construct_name  | what a construct without a rule is called in SQL              |
| allowlist       | which parts of a syntax node may be present                   |
| correction      | a refused statement with what its refusal says to write       |
"""
