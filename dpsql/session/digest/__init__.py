"""What is asked, as digests that outlive names: keys of stored answers.

| module           | what it does                                                       |
| ---------------- | ------------------------------------------------------------------ |
| answer_identity  | what stored answers are known by                                   |
| canonical_digest | what a release means, however its query is written                 |
| comparison_form  | constants beside exact numbers, as if they were written shortest   |
| shared_parts     | releases that differ in constants alone: other parts are read once |
| sum_digest       | what values mean that are sums over rows                           |
| source_digests   | what is computed of a source's columns, however they are named     |
| plan_digest      | a plan as it is written, where the order of rows follows from that |
| codec            | plans, formulas and mechanisms as digests                          |
| tags             | what digests call classes, and which fields they have              |
| mechanism_tags   | the same of mechanisms                                             |
| tag              | a class in digests                                                 |
| cell_digest      | the digest of a list of cells                                      |
"""
