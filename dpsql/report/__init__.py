"""What people read: text, tables, charts and HTML of answers, costs and budgets.

| module          | what it does                                                    |
| --------------- | --------------------------------------------------------------- |
| terminal        | what a terminal shows: tables, messages, progress               |
| export          | answers for programs: CSV, JSON, Parquet                        |
| local_epsilon   | what randomised answers lose by themselves, which no ledger has |
| budget_history  | a ledger's entries as people read them, and what they add up to |
| documentation   | the page of grammar_notes/ that an error names, as a link       |
| html            | HTML pages and fragments                                        |
| burn_down_chart | how a budget burned down, drawn with blocks for a terminal      |
| result          | a table that may leave, as PEP 249 describes it                 |
| error_columns   | 95 % half-widths beside the values that they are of             |
| cost            | what an answer cost, and what is left, in words                 |
| explain_text    | EXPLAIN PRIVACY as text and JSON                                |
| error_curve     | errors against epsilon as text, JSON and HTML                   |
| chart           | lines over axes in decades, as characters and SVG               |
| budget          | what was spent and is left, as people read it                   |
| cost_notice     | what an answer cost, and what is left, for a client's notice    |
"""
