"""Odd material for mutations: constants, names, keywords and characters."""

from __future__ import annotations

LITERALS = (
    "NULL", "0", "-0", "1e400", "-1e-400", "1e308", ".5", "5.", "0x1F", "1_000", "''", "'a''b'",
    "'%_\\'", "E'\\n'", "$$x$$", "X'00'", "TRUE", "'NaN'::DOUBLE", "'infinity'::DOUBLE",
    "9223372036854775808", "-9223372036854775808", "99999999999999999999999999999999999999999",
    "0.00000000000000000000000000000000000001", "DATE '0001-01-01'", "DATE '9999-12-31'",
    "DATE 'infinity'", "TIMESTAMP '2024-02-30'", "INTERVAL '1' CENTURY", "INTERVAL 99999999999 DAY",
    "TIME '25:00'", "[1, 2]", "{'a': 1}", "MAP {1: 2}", "(1, 2)", "?", "$1", ":name", "CAST(NULL AS INT)",
)  # fmt: skip
"""Constants at the ends of their types, of odd types, or of none."""

IDENTIFIERS = (
    '""', '"a""b"', '"SELECT"', "ü", "日本", '"x.y"', "𝒳", '"\u200b"', "rowid", "_", "a.b.c.d", '"' + "x" * 300 + '"',
    "main.patients", "public.orders", "information_schema.tables", "duckdb_tables()", "*", "COLUMNS(*)", "#1",
)  # fmt: skip
"""Names that are no names, or name what isn't for analysts."""

WORDS = (
    "SELECT", "FROM", "WHERE", "GROUP BY", "HAVING", "ORDER BY", "LIMIT 1", "OFFSET 1", "QUALIFY", "WINDOW",
    "DISTINCT", "ALL", "UNION", "INTERSECT ALL", "EXCEPT", "JOIN", "LEFT JOIN", "NATURAL JOIN", "ASOF JOIN",
    "SEMI JOIN", "CROSS JOIN", "LATERAL", "ON TRUE", "USING (patient_id)", "AS", "NOT", "AND", "OR", "IN",
    "EXISTS", "BETWEEN", "LIKE", "SIMILAR TO", "IS NULL", "IS NOT DISTINCT FROM", "CASE", "WHEN", "THEN",
    "ELSE", "END", "CAST", "FILTER (WHERE TRUE)", "OVER ()", "OVER (PARTITION BY 1)", "WITHIN GROUP",
    "TABLESAMPLE 10%", "PIVOT", "UNNEST([1])", "VALUES (1)", "WITH RECURSIVE x AS", "DESCRIBE", "EXPLAIN",
    "PRAGMA", "COPY", "ATTACH 'x'", "INSTALL httpfs", "SET x = 1", "INSERT INTO t", "DELETE FROM patients",
    "DROP TABLE patients", "CREATE TABLE t AS", "BEGIN", ";", "(", ")", "[", "]", ",", ".", "::", "->", "||",
    "read_csv('/etc/passwd')", "random()", "version()", "current_setting('x')", "count(*)", "sum(1)",
    "string_agg(city)", "array_agg(age)", "median(age)", "arg_max(age, city)", "grouping(sex)", "error('x')",
)  # fmt: skip
"""Keywords and calls, allowed or not, in any place."""

MARKS = (
    "/* x */", "-- x\n", "/* /* x */ */", "/*", "--", "'", '"', "$$", "\u202e", "\ufeff", "\u00a0", "\U0001f600",
    "\x00", "\x1b[0m", "\r\n", "\t", "\ud800", "e\u0301", "\\", "`",
)  # fmt: skip
"""Comments, half of quotes, and characters that aren't expected."""
