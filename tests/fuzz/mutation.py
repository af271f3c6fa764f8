"""Statements of the corpora, mutated: tokens dropped, doubled, swapped and spliced, odd text added."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from random import Random

from corpus.statement import analytic, noted, tpch, written
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.errors import TokenError

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


@cache
def corpus() -> tuple[tuple[str, str], ...]:
    """Schema and text of every statement, answered or not."""
    found = [*noted(), *written(), *tpch().values(), *analytic().values()]
    return tuple((s.schema, s.sql) for s in found)


def mutant(random: Random) -> tuple[str, str]:
    """A schema, and a statement that is a few mutations from one about it."""
    schema, sql = random.choice(corpus())
    parts = pieces(sql)
    for _ in range(random.choice([1, 1, 1, 2, 2, 3, 5])):
        parts = random.choice(_MUTATIONS)(random, parts)
    return schema, "".join(parts)


@cache
def _pieces(sql: str) -> tuple[str, ...]:
    try:
        tokens = DuckDB().tokenize(sql)
    except TokenError:
        return tuple(sql.split(" "))
    starts = [token.start for token in tokens]
    ends = [*starts[1:], len(sql)]
    return tuple(sql[start:end] for start, end in zip(starts, ends, strict=True))


def pieces(sql: str) -> list[str]:
    """The tokens of a statement, each with the space after it."""
    return list(_pieces(sql))


def _delete(random: Random, parts: list[str]) -> list[str]:
    place = random.randrange(len(parts)) if parts else 0
    return parts[:place] + parts[place + random.choice([1, 1, 1, 2, 5]) :]


def _double(random: Random, parts: list[str]) -> list[str]:
    start, end = _range(random, parts)
    return parts[:end] + [" ", *parts[start:end], " "] + parts[end:]


def _swap(random: Random, parts: list[str]) -> list[str]:
    if len(parts) < 2:
        return parts
    a, b = random.sample(range(len(parts)), 2)
    swapped = list(parts)
    swapped[a], swapped[b] = parts[b], parts[a]
    return swapped


def _splice(random: Random, parts: list[str]) -> list[str]:
    """A stretch of another statement in the place of one of this."""
    other = pieces(random.choice(corpus())[1])
    start, end = _range(random, parts)
    begin, until = _range(random, other)
    return parts[:start] + [" ", *other[begin:until], " "] + parts[end:]


def _insert(choices: tuple[str, ...]) -> Callable[[Random, list[str]], list[str]]:
    def insert(random: Random, parts: list[str]) -> list[str]:
        place = random.randint(0, len(parts))
        return [*parts[:place], f" {random.choice(choices)} ", *parts[place:]]

    return insert


def _replace(choices: tuple[str, ...]) -> Callable[[Random, list[str]], list[str]]:
    def replace(random: Random, parts: list[str]) -> list[str]:
        if not parts:
            return parts
        place = random.randrange(len(parts))
        return [*parts[:place], f" {random.choice(choices)} ", *parts[place + 1 :]]

    return replace


def _nest(random: Random, parts: list[str]) -> list[str]:
    """The statement, or a stretch of it, within something else."""
    start, end = _range(random, parts)
    inner = "".join(parts[start:end])
    roll = random.choice(
        [
            f" ({inner}) ",
            f" abs({inner}) ",
            f" NOT ({inner}) ",
            f" CASE WHEN {inner} THEN {inner} END ",
            f" coalesce({inner}, {inner}) ",
            f" (SELECT {inner}) ",
            f" {inner} BETWEEN {inner} AND {inner} ",
            f" CAST({inner} AS VARCHAR) ",
        ]
    )
    whole = "".join(parts)
    if random.random() < 0.3:
        return pieces(
            random.choice(
                [
                    f"SELECT * FROM ({whole}) AS t",
                    f"SELECT count(*) FROM ({whole}) AS t",
                    f"WITH t AS ({whole}) SELECT * FROM t, t AS u",
                    f"({whole}) UNION ALL ({whole})",
                    f"SELECT ({whole})",
                    f"SELECT count(*) FROM patients WHERE patient_id IN ({whole})",
                    f"EXPLAIN {whole}",
                ]
            )
        )
    return [*parts[:start], roll, *parts[end:]]


def _characters(random: Random, parts: list[str]) -> list[str]:
    """Single characters dropped, doubled, or of another case."""
    text = "".join(parts)
    for _ in range(random.randint(1, 4)):
        place = random.randrange(len(text) + 1)
        change = random.choice(["", text[place : place + 1] * 2, text[place : place + 1].swapcase()])
        text = text[:place] + change + text[place + 1 :]
    return [text]


def _range(random: Random, parts: list[str]) -> tuple[int, int]:
    start = random.randint(0, len(parts))
    return start, min(len(parts), start + random.choice([1, 1, 2, 3, 5, 8, 20]))


_MUTATIONS: tuple[Callable[[Random, list[str]], list[str]], ...] = (
    _delete, _double, _swap, _splice, _splice, _nest, _nest, _characters,
    _insert(WORDS), _insert(MARKS), _insert(LITERALS), _replace(LITERALS), _replace(IDENTIFIERS),
    _replace(WORDS), _replace(LITERALS),
)  # fmt: skip
