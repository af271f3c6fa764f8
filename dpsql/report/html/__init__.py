"""HTML pages and fragments.

| module  | what it does                                                        |
| ------- | ------------------------------------------------------------------- |
| page    | whole HTML pages                                                    |
| budget  | what was spent and is left as one HTML page that needs nothing else |
| answer  | an answer as HTML                                                   |
| explain | EXPLAIN PRIVACY as HTML                                             |
"""
