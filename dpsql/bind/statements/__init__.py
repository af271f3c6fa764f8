"""CREATE SYNOPSIS, SUGGEST BOUNDS, CALIBRATE, DECIDE, ALERT, statements over public tables.

| module           | what it does                                                    |
| ---------------- | --------------------------------------------------------------- |
| create_dashboard | CREATE DASHBOARD: the counts and sums of all charts             |
| create_synopsis  | CREATE SYNOPSIS: counts and sums of all combinations of keys    |
| public_statement | statements that name public tables alone, by their words        |
| suggest_bounds   | SUGGEST BOUNDS: bounds to declare, as a release                 |
| decide           | DECIDE: an expert for each round, by the rounds before it       |
| alert            | ALERT: the first conditions that hold, of listed groups         |
| by_clause        | their BY, which a query has as GROUP BY                         |
| calibrate        | CALIBRATE: ladders of what units contribute, part by part       |
| own_query        | queries that dpsql writes itself, over plans as tables          |
| rung_search      | which of many intervals a number lies in, by comparisons        |
| ladder_clauses   | its clauses: MEASURE, BY, ALONG                                 |
"""
