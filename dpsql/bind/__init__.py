"""SQL text → logical plan, by allow-list: what has no rule here is refused before data are read.

| module      | what it binds                                                        |
| ----------- | -------------------------------------------------------------------- |
| statement   | the whole statement: bind()                                           |
| correction  | a refused statement with what its refusal says to write                |
| parse       | text → one syntax tree, within limits; places of its nodes            |
| placeholder | `?` numbered by its place in the text                                 |
| parameter   | values given beside the text, as typed constants                      |
| context     | what is known around a query: schema, ids, CTEs, the query outside    |
| query       | WITH, SELECT and set operations, in any nesting                       |
| by_name     | UNION BY NAME                                                         |
| multiset    | INTERSECT ALL and EXCEPT ALL                                          |
| select      | SELECT, clause by clause                                              |
| alias       | names of the SELECT list in other clauses                             |
| item        | the SELECT list and its columns' names                                |
| relation    | FROM: tables, derived tables, CTEs, joins                             |
| source      | what FROM names: listed rows, a CTE, a table or a view                |
| period      | which rows of a table a refreshed budget is of                        |
| lateral     | LATERAL: what a subquery in FROM has for each row before it           |
| join        | kinds of joins: NATURAL, SEMI, ANTI                                   |
| table       | the schema's tables and views by name                                |
| named_query | queries that go by a name: WITH's, and views'                        |
| view        | the owner's views, bound where they are named                        |
| release     | tables that analysts keep, beside the schema's                        |
| constant_rows | FROM: VALUES, generate_series, range and unnest of constants        |
| ownership   | proofs that joined private rows share their unit                      |
| kept_row    | outer joins that keep public rows, where rows are released             |
| kept_count  | how many public rows they keep, of counts of private ones            |
| absent_partner | joins that ask public rows whether they have a private partner      |
| grouping    | grouping sets, and the frontier between private and released rows     |
| pivot       | PIVOT, as aggregates of the rows with each value                      |
| pivot_statement | PIVOT as a statement                                              |
| public_key  | group keys of private rows that equal a public column                |
| dependent_value | aggregates of what has one value in each group                     |
| unlisted_text | min, max and mode of text that nothing lists: of what enough units have |
| tautology   | HAVING without what is true of every group that has a row             |
| group_key   | the keys that GROUP BY names                                          |
| aggregate   | aggregate calls                                                       |
| aggregate_call | which aggregate a node is, as written                              |
| aggregate_type | the types of aggregates                                            |
| derived_aggregate | aggregates that are functions of others                        |
| quantile_place | where in the order of its values a quantile is                    |
| open_aggregate | aggregates of public and released rows                             |
| distinct_on | DISTINCT ON, by row_number()                                          |
| distinct    | SELECT DISTINCT                                                       |
| window_summary | quantiles and variances over windows                               |
| window      | window functions                                                      |
| frame       | their frames: ROWS, GROUPS, RANGE                                     |
| named_window | WINDOW w AS (…)                                                      |
| synopsis    | CREATE SYNOPSIS: the counts of all combinations of keys                |
| public_only | statements that name public tables alone, told from their words        |
| suggest     | SUGGEST BOUNDS: bounds to declare, as a release                        |
| subquery    | EXISTS, IN and scalar subqueries                                      |
| quantifier  | IN, ANY and ALL of a subquery, in three values                         |
| asked       | what a subquery is asked for: its truth or a value, one row or any     |
| found_group | which releases leave out groups that may be empty                     |
| presence    | whether private rows are there, asked by rows of nobody, by a count    |
| single_row  | the only row of a scalar subquery                                     |
| top_rows    | ORDER BY and LIMIT of the rows that one row asks for                  |
| scalar_join | that row joined to each row which asks                                |
| equality    | equalities by which rows around ask for rows of a subquery            |
| correlation | what is asked of an aggregated subquery's groups                      |
| ordering    | ORDER BY and LIMIT                                                    |
| order_term  | the terms of an ORDER BY                                              |
| expression  | scalar expressions, with their types                                  |
| row_value   | (a, b): comparisons of rows, and their texts to count by              |
| collation   | COLLATE in comparisons                                                |
| predicate   | AND, OR, BETWEEN, IN and IS                                           |
| conditional | CASE and what is short for it                                         |
| unlike      | DuckDB's functions that sqlglot reads as others                       |
| call        | calls of scalar functions                                             |
| template    | expressions of ours over parts of the user's statement                |
| bins        | what to write for histograms                                          |
| shape       | which syntax nodes are calls, and of which functions                  |
| arithmetic  | numbers, moments and lengths of time under + - * /                    |
| interval    | constant lengths of time                                              |
| time_difference | lengths of time between moments, measured or compared              |
| convert     | casts                                                                 |
| coercion    | DuckDB's rules for the types of operators                             |
| literal     | constants                                                             |
| clock       | the moment that now() means                                           |
| fold        | conditions that the text itself decides                               |
| scope       | names → columns                                                       |
| name        | column ids                                                            |
| size        | how large expressions and plans are once they are written out          |
| construct   | what a construct without a rule is called in SQL                       |
| allow       | which parts of a syntax node may be present                           |
"""
