"""No call raises, whatever its arguments, in SELECT and in WHERE; and it is what DuckDB says."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

import duckdb
import pytest
from functions.calls import Case, cases, engine
from functions.samples import extreme, fill, ordinary

from dpsql.plan.functions import FUNCTIONS
from dpsql.plan.time_zone.conversion import CONVERSION
from dpsql.schema.sql_type import Double

_TOGETHER = 40
"""Expressions asked for in one statement."""


@pytest.fixture(scope="module")
def filled() -> duckdb.DuckDBPyConnection:
    fill(engine(), "extreme", extreme)
    fill(engine(), "ordinary", ordinary)
    return engine()


def _rows(case: Case, prefix: str) -> str:
    tables = [f'(SELECT v AS c{c.id} FROM "{prefix} {c.type}")' for c in case.columns]
    return ", ".join(tables) or "(SELECT NULL)"


def _alike(found: Iterable[Case]) -> Iterator[list[Case]]:
    """Cases over columns of the same types, some at a time."""

    def kinds(case: Case) -> list[str]:
        return [str(column.type) for column in case.columns]

    for _, group in itertools.groupby(sorted(found, key=kinds), kinds):
        some = list(group)
        yield from (some[n : n + _TOGETHER] for n in range(0, len(some), _TOGETHER))


def test_no_value_raises(filled: duckdb.DuckDBPyConnection) -> None:
    for group in _alike(case for name in FUNCTIONS for case in cases(name)):
        # hash() reads every value; count() might be known without.
        read = ", ".join(f"bit_xor(hash({case.emitted}))" for case in group)
        try:
            filled.execute(f"SELECT {read} FROM {_rows(group[0], 'extreme')}")
        except duckdb.Error:
            assert _raising(filled, group) == []


def _raising(connection: duckdb.DuckDBPyConnection, group: list[Case]) -> list[str]:
    found: list[str] = []
    for case in group:
        try:
            connection.execute(f"SELECT hash({case.emitted}) FROM {_rows(case, 'extreme')}")
        except duckdb.Error as error:
            found.append(f"{case.name}: {error}")
    return found


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_condition_raises(name: str, filled: duckdb.DuckDBPyConnection) -> None:
    for case in {case.sql: case for case in cases(name)}.values():
        condition = f"({case.emitted}) IS NOT NULL"
        filled.execute(f"SELECT 1 FROM {_rows(case, 'extreme')} WHERE {condition}")


_OTHERWISE = ("to_timestamp", CONVERSION)
"""The first gives a moment with a zone there; the second isn't there: test_time_zone has it."""


def test_values_are_duckdbs(filled: duckdb.DuckDBPyConnection) -> None:
    """The total form differs where DuckDB's value is NaN or infinite, or where it raises."""
    every = (case for name in FUNCTIONS if name not in _OTHERWISE for case in cases(name))
    for group in _alike(every):
        wrong = ", ".join(f"bool_or(NOT ({_same(case)}))" for case in group)
        found = filled.execute(f"SELECT {wrong} FROM {_rows(group[0], 'ordinary')}").fetchone()
        assert found is not None
        assert [c.name for c, differs in zip(group, found, strict=True) if differs] == []


def _same(case: Case) -> str:
    written, emitted = f"TRY({case.raw})", f"({case.emitted})"
    same = f"{written} IS NOT DISTINCT FROM {emitted}"
    if not isinstance(case.expression.type, Double):
        return same
    return f"CASE WHEN isfinite({written}) THEN {same} ELSE {emitted} IS NULL END"


def test_a_moment_of_an_epoch_is_duckdbs(filled: duckdb.DuckDBPyConnection) -> None:
    for case in cases("to_timestamp"):
        if case.columns:
            written, emitted = f"epoch_us(TRY({case.raw}))", f"epoch_us({case.emitted})"
            differ = f"{written} IS DISTINCT FROM {emitted}"
            rows = f"SELECT 1 FROM {_rows(case, 'ordinary')} WHERE {differ}"
            assert filled.execute(rows).fetchall() == [], case.name
