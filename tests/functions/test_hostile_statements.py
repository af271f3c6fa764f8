"""No aggregate, window, join or key fails for a hostile row, wherever it is stored.

Each is what the compiler emits, and gives the same with all of DuckDB's optimizers off.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from random import Random
from tempfile import mkdtemp

import pytest
from functions import hostile
from functions.hostile import KINDS, SOURCES, WORLDS, columns, name
from functions.hostile_engines import Engines

from dpsql.errors import Error, ExecutionFailed
from dpsql.release.columns.group_keys import domain_table
from dpsql.schema.load.load import load_schema
from dpsql.schema.sql_type import Integer
from dpsql.session.compile.compiled import CompiledRelease
from dpsql.session.session import Session

pytestmark = pytest.mark.bounds

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
    "median({x}) OVER (PARTITION BY u)",
    "quantile_cont({x}, 0.3) OVER (PARTITION BY u ORDER BY {y} ROWS 1 PRECEDING)",
    "quantile_disc({x}, 0.3) " + _OVER,
    "max({x}) OVER (PARTITION BY u ORDER BY {y} RANGE BETWEEN 3 PRECEDING AND 2 FOLLOWING)",
)
_KEYED = "SELECT l.{x}, count(*) FROM rows r JOIN listed l ON r.{x} = l.{y} GROUP BY l.{x}"
_LISTED = "SELECT {y}, count(*) FROM rows GROUP BY {y}"
_JOINS = (
    "SELECT count(*) FROM rows r JOIN listed l ON r.{x} = l.{y}",
    "SELECT count(*) FROM rows r JOIN rows s ON r.u = s.u AND r.{x} = s.{y}",
    "SELECT count(*) FROM rows r WHERE r.{x} IN (SELECT {y} FROM listed)",
)
_FILTERS = (
    "SELECT count(*) FROM rows WHERE {x} > 1000",
    "SELECT count(*) FROM rows WHERE NOT {x} < 1000",
    "SELECT count(*) FROM rows WHERE {x} = '???'",
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


@cache
def always() -> list[str]:
    """All aggregates and windows of one unit's rows of each type, its keys, and conditions on it.

    What can't be asked of a type is left out; the rest is asked in one statement.
    """
    found: list[str] = []
    for kind in KINDS:
        named = {"x": name(kind), "y": name(kind, other=True)}
        for calls, by in ((_AGGREGATES, " GROUP BY u"), (_WINDOWS, "")):
            asked = [(call.format(**named), by) for call in calls]
            accepted = [call for call, by in asked if _is_accepted(_of_units([call], by))]
            if accepted:
                found.append(_of_units(accepted, by))
        found += (sql.format(**named) for sql in (_KEYED, _LISTED, *_FILTERS))
    return [sql for sql in found if _is_accepted(sql)]


def _of_units(calls: Sequence[str], by: str) -> str:
    counted = ", ".join(f"count(w{place})" for place in range(len(calls)))
    listed = ", ".join(f"{call} AS w{place}" for place, call in enumerate(calls))
    return f"SELECT {counted} FROM (SELECT u, {listed} FROM rows{by}) t"


def pairs(random: Random, share: float) -> list[str]:
    """Joins, and windows in the order of another column, of a `share` of the pairs of types."""
    found: list[str] = []
    for (x, kind), (y, other) in itertools.product(columns(), repeat=2):
        named = {"x": x, "y": y}
        if kind == other or random.random() < share:
            found += (join.format(**named) for join in (*_JOINS, _KEYED))
            found += (_of_units([call.format(**named)], "") for call in _WINDOWS)
    return found


@cache
def session() -> Session:
    """One that prepares statements: public rows are the same in all worlds."""
    folder = Path(mkdtemp())
    hostile.write(folder, "duckdb", 0)
    declared = [("u", "BIGINT"), *((column, str(kind)) for column, kind in columns())]
    wide = {name(kind, other=True) for kind in KINDS if isinstance(kind, Integer)}
    listed = "\n".join(
        f'      {c}: {{type: "{k}"{", values: [0, 1, 2]" * (c in wide)}}}' for c, k in declared
    )
    text = SCHEMA.replace("COLUMNS", listed)
    (folder / "schema.yaml").write_text(text, encoding="utf-8")
    return Session(load_schema(folder / "schema.yaml"))


@cache
def _releases(sql: str) -> tuple[CompiledRelease, ...]:
    try:
        return session().compile(sql).releases
    except Error:
        return ()


def _is_accepted(sql: str) -> bool:
    return bool(_releases(sql))


def _failing(engines: Engines, asked: list[str]) -> list[str]:
    """The statements that fail, or differ without optimizers."""
    found: list[str] = []
    for sql in asked:
        for release in _releases(sql):
            query = release.step.query
            tables = {domain.name: domain_table(domain) for domain in query.domains}
            try:
                if not engines.agree(query.sql, ["1"] * query.salted, tables):
                    found.append(f"it differs without optimizers: {sql}")
            except ExecutionFailed:
                found.append(sql)
    return found


@pytest.mark.parametrize(("source", "world"), [("duckdb", 0), ("parquet", 5), ("csv", 2)])
def test_no_statement_fails_or_differs(tmp_path: Path, source: str, world: int) -> None:
    engines = Engines(tmp_path, source, world)
    place = SOURCES.index(source)
    # Each is tried on one source; conditions on files, whose readers know more than the engine, and
    # keys where there are integers of 128 bits, and aggregates where days are far.
    asked = [
        sql
        for number, sql in enumerate(always())
        if number % len(SOURCES) == place
        or source
        == ("parquet" if " WHERE " in sql else "duckdb" if " BY b" in sql or " BY u" in sql else "")
    ]
    some = Random(world).sample(pairs(Random(world), 0.02), 10)
    failing = _failing(engines, [*asked, *some])
    engines.close()
    assert len(asked) > 30
    assert not failing, f"a hostile row decides about {failing}"


@pytest.mark.slow
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("world", range(WORLDS))
def test_no_statement_fails_or_differs_at_length(tmp_path: Path, source: str, world: int) -> None:
    engines = Engines(tmp_path, source, world)
    failing = _failing(engines, [*always(), *pairs(Random(world), 0.02)])
    engines.close()
    assert not failing, f"a hostile row decides about {failing}"
