"""Random tables of values at the ends of what all engines have, and statements about them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

import duckdb
from fuzz.nested import Nested

from dpsql.engine.duckdb.lockdown import configure
from dpsql.schema.load.load import load_schema
from dpsql.schema.model import Schema

_INTEGERS: Final = {"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "BIGINT": 64, "HUGEINT": 100}

_SPECS: Final = (
    ("truth", "BOOLEAN", ""),
    ("number", "TINYINT", "bounds: [-128, 127]"),
    ("number", "SMALLINT", "values: [-1, 0, 5]"),
    ("number", "INTEGER", "bounds: [-5, 5]"),
    ("number", "BIGINT", "bounds: [-9223372036854775808, 9223372036854775807]"),
    ("number", "BIGINT", ""),
    ("number", "HUGEINT", "bounds: [-1000000, 1000000]"),
    ("number", "DECIMAL(4,1)", "bounds: [-1.5, 2]"),
    ("number", "DECIMAL(18,3)", "bounds: [0, 1000]"),
    ("number", "DOUBLE", "bounds: [-10, 10]"),
    ("special", "DOUBLE", "bounds: [0, 0.1]"),
    ("special", "DOUBLE", ""),
    ("text", "VARCHAR", "values: [a, A, '', 'a ']"),
    ("text", "VARCHAR", r'values: ["e\u0301", "\u00e9", a]'),
    ("text", "VARCHAR", ""),
    ("moment", "DATE", "bounds: [2024-01-01, 2024-03-31]"),
    ("moment", "DATE", ""),
    ("moment", "TIMESTAMP", "bounds: [2024-01-01, 2024-12-31]"),
)

_FEW: Final = ("bounds: [-5, 5]", "bounds: [2024-01-01, 2024-03-31]")
"""Bounds between which groups are listed."""

_VALUES: Final = {
    ("truth", "BOOLEAN"): ("true", "false"),
    ("number", "DECIMAL(4,1)"): ("0", "0.5", "-0.5", "1.5", "2", "999.9", "-999.9"),
    ("number", "DECIMAL(18,3)"): ("0", "0.5", "2.5", "-2.5", "0.001", "9" * 15, "-" + "9" * 15),
    ("number", "DOUBLE"): ("0", "-0.0", "0.5", "-2.5", "0.1", "1e15", "9007199254740993", "1e-9"),
    ("special", "DOUBLE"): ("nan", "inf", "-inf", "-0.0", "0", "0.1", "2.5", "1e300", "5e-324"),
    ("text", "VARCHAR"): (
        *("", "a", "A", "a ", " ", "ab", "e\u0301", "\u00e9", "NULL", "\\", "a\\b", "%", "_"),
        *("\U0001f600x", "x" * 3000, "\n", "ß", "I", "ı", "2024-01-01", "'"),
    ),
    ("moment", "DATE"): (
        *("2024-01-01", "2024-01-31", "2024-02-29", "1969-12-31", "0001-01-01", "9999-12-31"),
        "1582-10-10",
    ),
    ("moment", "TIMESTAMP"): (
        *("2024-02-29 23:59:59.999999", "1969-12-31 23:59:59.999999", "0001-01-01 00:00:00"),
        *("9999-12-31 23:59:59.999999", "1582-10-10 01:01:01", "2024-01-01 00:00:00"),
    ),
}

INFINITE: Final = ("infinity", "-infinity")

_SCHEMA: Final = """
dataset: hostile
source: hostile.duckdb
units: {person: {table: people, key: u}}
tables:
  people: {key: u, unit: person, columns: {u: {type: BIGINT}}}
  rows:
    unit: {column: u, references: people.u}
    limits: {groups: 10000, rows_per_group: 10000, rows: 10000}
    columns:
      u: {type: BIGINT}
      ref: {type: INTEGER, references: facts.fact}
COLUMNS
  facts:
    public: true
    key: fact
    columns: {fact: {type: INTEGER}, label: {type: VARCHAR}}
budget: {epsilon: 60, delta: 1.0e-3, accounting: zcdp}
"""

_FROM: Final = (
    *("rows r", "(SELECT * FROM rows) r", "rows r JOIN people p ON r.u = p.u"),
    *("rows r JOIN facts f ON r.ref = f.fact", "rows r LEFT JOIN facts f ON r.ref = f.fact"),
)


@dataclass(frozen=True)
class HostileTable:
    """A schema no limit of which binds, its rows in DuckDB, and its columns by their families."""

    schema: Schema
    connection: duckdb.DuckDBPyConnection
    columns: dict[str, list[str]]
    listed: list[str]


def hostile_table(random: Random, folder: Path, far: tuple[str, ...]) -> HostileTable:
    """One of all; moments are also what `far` has."""
    specs = [random.choice(_SPECS) for _ in range(random.choice([4, 6, 8]))]
    columns: dict[str, list[str]] = {}
    listed, declared = [], []
    for place, (family, kind, domain) in enumerate(specs):
        columns.setdefault(family, []).append(f"r.c{place}")
        if family == "truth" or "values" in domain or domain in _FEW:
            listed.append(f"r.c{place}")
        declared.append(f'      c{place}: {{type: "{kind}"{", " * bool(domain)}{domain}}}')
    path = folder / "schema.yaml"
    path.write_text(_SCHEMA.replace("COLUMNS", "\n".join(declared)), encoding="utf-8")
    connection = duckdb.connect(config={"threads": 1})
    configure(connection)
    connection.execute("CREATE TABLE people AS SELECT range AS u FROM range(6)")
    connection.execute(
        "CREATE TABLE facts AS FROM (VALUES (1, 'x'), (2, 'x'), (3, NULL), (4, 'y')) t(fact, label)"
    )
    typed = "".join(f", c{place} {kind}" for place, (_, kind, _) in enumerate(specs))
    connection.execute(f"CREATE TABLE rows (u BIGINT, ref INTEGER{typed})")
    rows = [
        [
            random.randrange(7),
            random.choice([1, 2, 3, 9, None]),
            *(_value(random, family, kind, far) for family, kind, _ in specs),
        ]
        for _ in range(random.choice([12, 30, 60]))
    ]
    connection.executemany(f"INSERT INTO rows VALUES (?, ?{', ?' * len(specs)})", rows)
    return HostileTable(load_schema(path), connection, columns, listed)


def _value(random: Random, family: str, kind: str, far: tuple[str, ...]) -> str | None:
    if random.random() < 0.07:
        return None
    if kind in _INTEGERS:
        last = 2 ** (_INTEGERS[kind] - 1) - 1
        return str(random.choice([0, 1, -1, 2, 3, 5, -7, 100, last, -last - 1]))
    more = far if family == "moment" else ()
    return random.choice([*_VALUES[family, kind], *more])


def statement(random: Random, table: HostileTable) -> str:
    """A statement about the rows: by keys, or of what each person's rows come to."""
    nested = Nested(random, table.columns)
    source = random.choice(_FROM)
    where = f" WHERE {nested.condition()}" if random.random() < 0.6 else ""
    special = nested.column("special", "1.5")
    if random.random() < 0.25:
        of_person = random.choice(
            [
                *(f"{name}({nested.number(1)})" for name in ("sum", "avg", "min", "max")),
                *(f"{name}({special})" for name in ("min", "max", "count")),
                *(f"max({nested.text(1)})", f"min({nested.moment(1)})"),
                f"bool_or({nested.condition(1)})",
                f"sum(DISTINCT {nested.number(1)})",
            ]
        )
        one = f"SELECT r.u, {of_person} AS w FROM {source}{where} GROUP BY r.u"
        return f"SELECT w, count(*), count(w) FROM ({one}) t GROUP BY w"
    keys = [
        random.choice(table.listed or [special]),
        nested.condition(),
        f"CASE WHEN {nested.condition()} THEN 'a' WHEN {nested.condition(1)} THEN 'b' END",
        f"month({nested.moment(1)})",
        f"date_trunc('month', {nested.moment(0)})",
        nested.text(),
        nested.number(),
        special,
    ]
    calls = [
        "count(*)",
        "count(DISTINCT r.u)",
        f"count({random.choice([nested.number(), nested.text(), nested.moment(), special])})",
        *(f"{name}({nested.number()})" for name in ("sum", "avg", "median", "max")),
        f"max({nested.moment(1)})",
        f"sum({special}) FILTER (WHERE {nested.condition(1)})",
        f"sum(CASE WHEN {nested.condition()} THEN 1 ELSE 0 END)",
    ]
    items = ", ".join(random.sample(calls, 2))
    if random.random() < 0.25:
        return f"SELECT {items} FROM {source}{where}"
    return f"SELECT {random.choice(keys)} AS g, {items} FROM {source}{where} GROUP BY g"
