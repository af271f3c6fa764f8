"""Statements that differ in constants alone, or in who asks, are bound and proved once.

| module           | what it holds                                                        |
| ---------------- | -------------------------------------------------------------------- |
| parameters       | which constants no proof can use, and statements with parameters     |
| instantiation    | what was compiled with parameters, with constants in their places    |
| generic_plans    | statements that differ in constants alone, proved once               |
| compared_words   | words of a text that a column is compared with, and nothing else     |
| constant_words   | words of a text that are plainly one constant                        |
| known_words      | words of texts that differ in constants alone, split once            |
| statement_shapes | texts that differ in constants alone, bound once                     |
| answer_keys      | releases under other keys, as what they read has                     |
| edition          | one proof for all who have answers of their own                      |
"""
