"""HTML pages and fragments, from the templates in `templates/`.

| module   | what it does                                                        |
| -------- | ------------------------------------------------------------------- |
| template | templates with values, all of them escaped                          |
| budget   | the spent and the remaining budget as one self-contained HTML page  |
| answer   | an answer as HTML                                                   |
| explain  | EXPLAIN PRIVACY as HTML                                             |
"""
