"""What command line and console print: answers, errors, and how far work is.

| module  | what it does                                                            |
| ------- | ----------------------------------------------------------------------- |
| table   | tables for people: on a terminal, plain, and in Markdown                |
| export  | answers for programs: CSV, JSON, Parquet                                |
| cost    | what an answer cost, and what is left                                   |
| page    | whole HTML pages                                                        |
| message | errors: what, where, what to write instead                              |
| watch   | work with its step shown after a second, cancelled by Ctrl-C            |
| visible | text in which nothing acts on a terminal                                |
"""
