"""What surrounds a call: which statements are refused, and what is said of an answer or an error.

| module             | what it does                                                     |
| ------------------ | ---------------------------------------------------------------- |
| refused_statements | statements that assistants can't run                             |
| answer_fields      | explanations and answers as the results of tools                 |
| corrected_call     | a call with the correction of its error, of which none was tried |
"""
