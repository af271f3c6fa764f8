"""Answers as messages, those that are sent again among them, and the statements that run.

| module            | what it does                                                     |
| ----------------- | ---------------------------------------------------------------- |
| result_messages   | answers → RowDescription, DataRow and ParameterStatus messages   |
| repeated_answers  | answers as the bytes that are sent again while nothing changes   |
| held_answers      | what answers take that an analyst's clients may still read       |
| running_statement | whether the statement that runs was stopped, and was charged     |
| charged_budget    | what an answer's charge has left, computed while a worker runs   |
| interpreter_queue | statements are translated and proved one after the other         |
"""
