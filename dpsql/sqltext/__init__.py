"""SQL as text: tokens, and where one statement ends, without a parser.

| module     | what it does                                                           |
| ---------- | ---------------------------------------------------------------------- |
| split      | several statements in one text → each with its offset                  |
| script     | statements of a script, and whether its last one is complete           |
| tokens     | the only scanner: words, quotes and comments, nested ones too          |
| parser_log | the parser's own warnings, which reach nobody                          |
"""
