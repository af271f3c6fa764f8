"""`dpsql budget`: what was spent and is left, by whom and on what, as text, page and data.

| module  | what it does                                                     |
| ------- | ---------------------------------------------------------------- |
| report  | the command: what is printed or written                          |
| beside  | what randomised answers lose by themselves, which no ledger has  |
| record  | a ledger's entries as people read them, and what they add up to  |
| picture | how a budget burned down, drawn with blocks for a terminal       |
| page    | all of it as one HTML page that needs nothing else               |
"""
