"""Output on a terminal: tables, messages, progress.

| module        | what it does                                                             |
| ------------- | ------------------------------------------------------------------------ |
| table         | tables for people: on a terminal, plain, and in Markdown                 |
| error_message | errors: what, where, what to write instead                               |
| progress      | work with its step shown after a second, cancelled by Ctrl-C             |
| sanitize      | text without characters that a terminal would act on                     |
| answer_table  | an answer as a table with errors, values that may be 0 dimmed, and bars  |
"""
