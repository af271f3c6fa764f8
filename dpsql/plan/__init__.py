"""The logical plan: relational operators and scalar expressions, as frozen data.

| module          | what it defines                                                                |
| --------------- | ------------------------------------------------------------------------------ |
| bounded_release | a bounded release: its contributions, statistics, choices and estimators       |
| expression      | scalar expressions, each with its type                                         |
| comparison      | the negation of a condition                                                    |
| functions       | the registry of scalar functions: types, domain, total form, one entry each    |
| duration        | lengths of time: months, days and microseconds                                 |
| time_zone       | time zones: their offsets, and conversions to local time and back              |
| numeric_types   | numbers as SQL types hold them                                                 |
| aggregate       | aggregate functions and their calls                                            |
| total_form      | how aggregates and windows of one unit's rows are written, so that none raises |
| operator        | relational operators                                                           |
| chart           | charts of a dashboard                                                          |
| frame           | frames of window functions                                                     |
| sort_key        | the terms of ORDER BY                                                          |
| output_columns  | the columns that each operator hands on                                        |
| expression_text | expressions as a person reads them                                             |
| traversal       | traversals that never list operators                                           |
| prune_columns   | columns that nothing reads are not scanned                                     |
"""
