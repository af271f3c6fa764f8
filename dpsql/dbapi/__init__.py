"""PEP 249 over a session: connections, cursors, and the few statements that are dpsql's own.

| module        | what it defines                                                       |
| ------------- | --------------------------------------------------------------------- |
| connection    | connect(), and `Connection`: one analyst's use of one dataset         |
| cursor        | `Cursor`: statements in, rows out                                     |
| statement     | EXPLAIN PRIVACY, SHOW and SET, told from queries by their first words |
| change        | the settings by name, and a change of one of them                      |
| option        | OPTIONS (…): settings of one statement                                 |
| word          | a text's words                                                        |
| result        | what a cursor reads from: names, types, a table, what it cost         |
| error         | 95 % half-widths beside the values that they are of                   |
| answer_page   | an answer as HTML                                                     |
| paid          | what an answer cost, in words                                         |
| setting       | the settings that SET changes, beside epsilon                          |
| explanation   | EXPLAIN PRIVACY as text and JSON                                       |
| page          | EXPLAIN PRIVACY as HTML                                               |
| sweep         | errors against epsilon as text, JSON and HTML                         |
| plot          | lines over axes in decades, as characters and SVG                     |
| value         | Arrow's values as Python's                                            |
| interruptible | work that Ctrl-C stops, though an engine runs it                      |
| budget        | what was spent and is left, as people read it                         |
| proposal      | what to write instead, where a refusal says so                         |
| history       | what the analyst's own statements cost                                |
| release       | the kept tables that the analyst may read                             |
| type          | PEP 249's type objects and constructors                               |
"""
