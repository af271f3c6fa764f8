"""HTML pages and fragments, made of `templates/`.

| module   | what it does                                                        |
| -------- | ------------------------------------------------------------------- |
| template | templates with values, all of them escaped                          |
| budget   | what was spent and is left as one HTML page that needs nothing else |
| answer   | an answer as HTML                                                   |
| explain  | EXPLAIN PRIVACY as HTML                                             |
"""
