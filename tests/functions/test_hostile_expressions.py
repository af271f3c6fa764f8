"""No call, operator or cast fails for a hostile row, wherever it is stored.

Each is what the compiler emits, and gives the same with all of DuckDB's optimizers off.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from random import Random

import pytest
from functions.calls import Case, bind, cases
from functions.hostile import KINDS, SOURCES, WORLDS, name
from functions.hostile_engines import Engines
from sqlglot import parse_one

from dpsql.errors import DataError, Refused, TypeFault
from dpsql.plan.functions import FUNCTIONS
from dpsql.schema.sql_type import Date, SqlType, Timestamp

pytestmark = pytest.mark.bounds

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


def _of_one_moment() -> list[Case]:
    """DuckDB would evaluate them on a column's least and greatest value."""
    return [
        case
        for case in expressions()
        if [type(column.type) for column in case.columns] in ([Date], [Timestamp])
    ]


@pytest.mark.parametrize(("source", "world"), [("duckdb", 0), ("parquet", 5), ("csv", 2)])
def test_no_expression_fails_or_differs(tmp_path: Path, source: str, world: int) -> None:
    engines = Engines(tmp_path, source, world)
    some = Random(world).sample(expressions(), 150)
    if source != "csv":
        some += _of_one_moment()
    failing = [fault for items in _items(some) for fault in engines.failing(*items)]
    engines.close()
    assert not failing, f"a hostile row decides about {failing}"


@pytest.mark.slow
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("world", range(WORLDS))
def test_no_expression_fails_or_differs_at_length(tmp_path: Path, source: str, world: int) -> None:
    engines = Engines(tmp_path, source, world)
    failing = [fault for items in _items(expressions()) for fault in engines.failing(*items)]
    engines.close()
    assert not failing, f"a hostile row decides about {failing}"
