"""Answers as messages, those that are sent again among them, and the statement that runs.

| module            | what it does                                                     |
| ----------------- | ---------------------------------------------------------------- |
| result_messages   | answers → RowDescription, DataRow and ParameterStatus messages   |
| repeated_answers  | answers as the bytes that are sent again while nothing changes   |
| running_statement | whether the statement that runs was stopped, and was charged     |
"""
