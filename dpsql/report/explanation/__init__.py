"""EXPLAIN PRIVACY as text, as JSON for programs, and as HTML for notebooks.

| module        | what it does                                  |
| ------------- | --------------------------------------------- |
| explanation   | the explanation of a statement, in any format |
| text_lines    | its lines as text                             |
| html_fragment | it as HTML                                    |
"""
