"""The type of every call is the one that DuckDB gives it, as written and in total form."""

from __future__ import annotations

import pytest
from functions.calls import Case, cases, engine, usages

from dpsql.plan.functions import FUNCTIONS

# DuckDB's own gives a TIMESTAMP WITH TIME ZONE, which no column has.
_ZONED = {"to_timestamp"}
# DuckDB has no such function.
_OWN = {"convert_timezone"}


def _types(found: tuple[Case, ...], *, raw: bool) -> list[str]:
    asked = []
    for case in found:
        nulls = ", ".join(f"NULL::{c.type} AS c{c.id}" for c in case.columns) or "NULL"
        kind = f"typeof({case.raw if raw else case.emitted})"
        asked.append(f"(SELECT {kind} FROM (SELECT {nulls}))")
    typed: list[str] = []
    for start in range(0, len(asked), 100):
        row = engine().execute(f"SELECT {', '.join(asked[start : start + 100])}").fetchone()
        assert row is not None
        typed += row
    return typed


@pytest.mark.parametrize("name", FUNCTIONS)
def test_calls_have_duckdbs_type(name: str) -> None:
    found = cases(name)
    derived = [str(case.expression.type) for case in found]
    for raw in (False,) if name in _ZONED | _OWN else (False, True):
        for case, actual, expected in zip(found, _types(found, raw=raw), derived, strict=True):
            assert actual == expected, case.name


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_usage_is_accepted(name: str) -> None:
    bound = {case.sql for case in cases(name)}
    assert [sql for sql in usages(FUNCTIONS[name]) if sql not in bound] == []


def test_there_are_many() -> None:
    known = {
        n for (n,) in engine().execute("SELECT function_name FROM duckdb_functions()").fetchall()
    }
    assert len(known & set(FUNCTIONS)) >= 120
