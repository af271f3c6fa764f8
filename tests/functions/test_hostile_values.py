"""No expression, aggregate, window, join or key fails for a hostile row, wherever it is stored.

Each is what the compiler emits, and gives the same with all of DuckDB's optimizers off.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from random import Random

import duckdb
import pyarrow as pa
import pytest
from functions import hostile
from functions.calls import Case, bind, cases
from functions.hostile import KINDS, SOURCES, WORLDS, columns, name
from sqlglot import parse_one

from dpsql.engine import lockdown
from dpsql.engine.duckdb import DuckDBEngine
from dpsql.errors import DataError, Error, ExecutionFailed, Refused, TypeFault
from dpsql.plan.functions import FUNCTIONS
from dpsql.release.key import domain_table
from dpsql.schema.decode import load_schema
from dpsql.schema.type import SqlType
from dpsql.session.session import Session

_TOGETHER = 60
"""Expressions in one statement."""

_OPERATORS = (
    "x = y",
    "x < y",
    "x IS DISTINCT FROM y",
    "x + y",
    "x - y",
    "x * y",
    "x / y",
    "x % y",
    "x // y",
    "x IN (y, x)",
    "x BETWEEN y AND x",
    "CASE WHEN x > y THEN x ELSE y END",
    "coalesce(x, y)",
    "nullif(x, y)",
)
_AGGREGATES = (
    "count({x})",
    "count(DISTINCT {x})",
    "sum({x})",
    "avg({x})",
    "min({x})",
    "max({x})",
    "median({x})",
    "quantile_cont({x}, 0.3)",
    "quantile_disc({x}, 0.3)",
    "sum(DISTINCT {x})",
    "avg(DISTINCT {x})",
    "median(DISTINCT {x})",
    "sum({x}) FILTER (WHERE {y} IS NOT NULL)",
    "bool_or({x})",
    "bool_and({x})",
)
_OVER = "OVER (PARTITION BY u ORDER BY {y})"
_WINDOWS = (
    "row_number() " + _OVER,
    "ntile(2) " + _OVER,
    "cume_dist() " + _OVER,
    "lag({x}) " + _OVER,
    "lead({x}, 2) " + _OVER,
    "first_value({x}) " + _OVER,
    "nth_value({x}, 2) " + _OVER,
    "last_value({x} IGNORE NULLS) " + _OVER,
    "count(DISTINCT {x}) " + _OVER,
    "sum({x}) " + _OVER,
    "avg({x}) " + _OVER,
    "sum(DISTINCT {x}) OVER (PARTITION BY u)",
    "min({x}) OVER (PARTITION BY u ORDER BY {y} ROWS 1 PRECEDING)",
    "max({x}) OVER (PARTITION BY u ORDER BY {y} RANGE BETWEEN 3 PRECEDING AND 2 FOLLOWING)",
)
_JOINS = (
    "SELECT count(*) FROM rows r JOIN listed l ON r.{x} = l.{y}",
    "SELECT count(*) FROM rows r JOIN rows s ON r.u = s.u AND r.{x} = s.{y}",
    "SELECT count(*) FROM rows r WHERE r.{x} IN (SELECT {y} FROM listed)",
    "SELECT l.{x}, count(*) FROM rows r JOIN listed l ON r.{x} = l.{y} GROUP BY l.{x}",
)

SCHEMA = """
dataset: hostile
source: hostile.duckdb
ledger: ledger.sqlite
units: {unit: {table: rows, key: u}}
tables:
  rows:
    unit: unit
    columns:
COLUMNS
  listed:
    public: true
    columns:
COLUMNS
budget: {epsilon: 60, delta: 1.0e-3}
"""


class Engines:
    """The engine as it is, and one without optimizers, over the same source."""

    def __init__(self, folder: Path, source: str, world: int) -> None:
        found = hostile.write(folder, source, world)
        self.plain = DuckDBEngine(found, threads=1)
        with pytest.MonkeyPatch.context() as changed:
            everything = duckdb.sql("SELECT string_agg(name, ',') FROM duckdb_optimizers()")
            ((names,),) = everything.fetchall()
            changed.setitem(lockdown.MEANING, "disabled_optimizers", f"'{names}'")
            self.literal = DuckDBEngine(found, threads=1)

    def failing(self, items: list[str], rows: str) -> list[str]:
        """Those that fail, or differ without optimizers, of values of `rows`."""
        try:
            if self.agree(f"SELECT {', '.join(items)} FROM {rows}"):
                return []
        except ExecutionFailed:
            pass
        if len(items) == 1:
            return [f"{items[0]} FROM {rows}"]
        half = len(items) // 2
        return self.failing(items[:half], rows) + self.failing(items[half:], rows)

    def agree(
        self, sql: str, salts: Sequence[str] = (), tables: Mapping[str, pa.Table] | None = None
    ) -> bool:
        """Whether both give the same rows; it fails if either does."""
        engines = (self.plain, self.literal)
        one, other = (engine.execute(sql, salts, tables or {}).table for engine in engines)
        return sorted(one.to_pylist(), key=str) == sorted(other.to_pylist(), key=str)

    def close(self) -> None:
        self.plain.close()
        self.literal.close()


def _emitted(sql: str, kinds: tuple[SqlType, ...]) -> Case | None:
    tree = parse_one(sql, dialect="duckdb")
    try:
        expression, found = bind(tree, dict(zip("xy", kinds, strict=False)))
    except (TypeFault, DataError, Refused):
        return None
    return Case(FUNCTIONS["abs"], sql, found, expression)


@cache
def expressions() -> tuple[Case, ...]:
    """All calls, operators and casts over all pairs of types that they take."""
    calls = (case for function in FUNCTIONS for case in cases(function))
    return (*calls, *_operators())


def _operators() -> Iterator[Case]:
    for pair in itertools.product(KINDS, repeat=2):
        written = [*_OPERATORS, f"CAST(x AS {pair[1]})", f"TRY_CAST(x AS {pair[1]})"]
        found = (_emitted(sql, pair) for sql in written)
        yield from (case for case in found if case is not None)


def _items(found: Sequence[Case]) -> Iterator[tuple[list[str], str]]:
    """Expressions and the rows they are of, some at a time."""

    def kinds(case: Case) -> tuple[str, ...]:
        seen: list[SqlType] = []
        names: list[str] = []
        for column in case.columns:
            names.append(name(column.type, other=column.type in seen))
            seen.append(column.type)
        return tuple(names)

    for names, group in itertools.groupby(sorted(found, key=kinds), kinds):
        read = ", ".join(f"{column} AS c{place}" for place, column in enumerate(names))
        rows = f"(SELECT {read or '1 AS one'} FROM rows)"
        named = [f"bit_xor(hash({case.emitted})) AS r{place}" for place, case in enumerate(group)]
        yield from ((named[n : n + _TOGETHER], rows) for n in range(0, len(named), _TOGETHER))


def statements(random: Random, share: float) -> list[str]:
    """Aggregates and windows of one unit's rows, joins and keys.

    Of two types that differ there is a `share` of the pairs.
    """
    found: list[str] = []
    for (x, kind), (y, other) in itertools.product(columns(), repeat=2):
        named = {"x": x, "y": y}
        if kind == other or random.random() < share:
            found += (join.format(**named) for join in _JOINS)
            found += (
                f"SELECT count(w) FROM (SELECT u, {call.format(**named)} AS w FROM rows) t"
                for call in _WINDOWS
            )
        if kind == other:
            found += (
                f"SELECT count(w) FROM (SELECT u, {call.format(**named)} AS w FROM rows GROUP BY u)"
                for call in _AGGREGATES
            )
            found.append(f"SELECT {x}, count(*) FROM rows GROUP BY {x}")
    return found


def _session(folder: Path) -> Session:
    listed = "\n".join(f'      {c}: {{type: "{k}"}}' for c, k in [*columns()])
    text = SCHEMA.replace("COLUMNS", f"      u: {{type: bigint}}\n{listed}")
    (folder / "schema.yaml").write_text(text, encoding="utf-8")
    return Session(load_schema(folder / "schema.yaml"))


def _failing_statements(folder: Path, engines: Engines, asked: list[str]) -> list[str]:
    found: list[str] = []
    answered = 0
    hostile_session = _session(folder)
    for sql in asked:
        try:
            releases = hostile_session.prepare(sql).releases
        except Error:
            continue
        answered += 1
        for release in releases:
            query = release.step.query
            tables = {domain.name: domain_table(domain) for domain in query.domains}
            salts = ["1"] if query.salted else []
            try:
                agreed = engines.agree(query.sql, salts, tables)
            except ExecutionFailed:
                found.append(sql)
                continue
            if not agreed:
                found.append(f"differs without optimizers: {sql}")
    hostile_session.close()
    assert answered > len(asked) // 10
    return found


def _worlds() -> list[tuple[str, int]]:
    """Sources in turn, each with a world of its own."""
    return [(source, place) for place, source in enumerate(SOURCES)]


@pytest.mark.parametrize(("source", "world"), _worlds())
def test_no_expression_fails_or_differs(tmp_path: Path, source: str, world: int) -> None:
    engines = Engines(tmp_path, source, world)
    some = Random(world).sample(expressions(), 500)
    failing = [fault for items in _items(some) for fault in engines.failing(*items)]
    engines.close()
    assert failing == []


@pytest.mark.parametrize(("source", "world"), _worlds())
def test_no_statement_fails_or_differs(tmp_path: Path, source: str, world: int) -> None:
    engines = Engines(tmp_path, source, world)
    asked = Random(world).sample(statements(Random(world), 0.02), 40)
    failing = _failing_statements(tmp_path, engines, asked)
    engines.close()
    assert failing == []


@pytest.mark.slow
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("world", range(WORLDS))
def test_nothing_fails_or_differs_at_length(tmp_path: Path, source: str, world: int) -> None:
    engines = Engines(tmp_path, source, world)
    failing = [fault for items in _items(expressions()) for fault in engines.failing(*items)]
    failing += _failing_statements(tmp_path, engines, statements(Random(world), 0.1))
    engines.close()
    assert failing == []
