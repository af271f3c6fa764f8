"""Answers, costs and budgets for people and for files: text, tables, charts, HTML and exports.

| module          | what it does                                                    |
| --------------- | --------------------------------------------------------------- |
| terminal        | what a terminal shows: tables, messages, progress               |
| export          | answers for programs: CSV, JSON, Parquet                        |
| local_epsilon   | the loss of randomised answers, which no ledger has             |
| sample_budget   | what was spent on a secret sample, as all units lose it         |
| budget_history  | a ledger's entries as people read them, and what they add up to |
| documentation   | the page of grammar_notes/ that an error names, as a link       |
| html            | HTML pages and fragments                                        |
| burn_down_chart | how a budget burned down, drawn with blocks for a terminal      |
| result          | a released or public table, as PEP 249 describes it             |
| error_columns   | columns of 95 % half-widths and biases next to the noisy ones   |
| cost            | what an answer cost, and what is left, in words                 |
| explanation     | EXPLAIN PRIVACY as text, JSON and HTML                          |
| error_curve     | errors against epsilon as text, JSON and HTML                   |
| chart           | lines over axes in decades, as characters and SVG               |
| budget          | what was spent and is left, as people read it                   |
| cost_notice     | what an answer cost, and what is left, for a client's notice    |
"""
