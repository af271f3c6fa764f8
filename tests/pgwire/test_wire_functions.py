"""Calls of PostgreSQL's functions, operators and casts, generated of its own catalogue.

An answer has PostgreSQL's values and types, or is refused; what `NOTED` names differs as
grammar_notes/dialects.md tells.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from fuzz.of_catalogue import Call, calls, statement
from pgwire.asked_of_both import Told, asked

CHUNK = 100
ORDINARY = 1
LONG = int(os.environ.get("DPSQL_SPOKEN", "10000"))
NOTED = {
    "cosh": "an overflow is NULL",
    "sinh": "an overflow is NULL",
    "exp": "an overflow is NULL",
    "^": "an overflow is NULL",
    "pow": "an overflow is NULL",
    "power": "an overflow is NULL",
    "right": "of -2147483648 characters PostgreSQL gives all",
    "string_to_array": "an empty text has one part here",
}
"""Functions whose values differ for some arguments, and why."""


@pytest.fixture(scope="module")
def known(theirs: Any) -> Sequence[Call]:
    """What PostgreSQL has, whose sessions are in UTC as dpsql's are."""
    theirs.execute("SET timezone = 'UTC'")
    found = calls(theirs)
    assert len(found) > 600
    return found


@pytest.mark.parametrize("chunk", range(ORDINARY))
def test_a_call_has_postgresqls_value_or_is_refused(
    ours: Any, theirs: Any, known: Sequence[Call], chunk: int
) -> None:
    _compare(ours, theirs, known, Random(f"functions {chunk}"))


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(LONG // CHUNK))
def test_a_call_has_postgresqls_value_or_is_refused_at_length(
    ours: Any, theirs: Any, known: Sequence[Call], chunk: int
) -> None:
    _compare(ours, theirs, known, Random(f"functions at length {chunk}"))


def _compare(ours: Any, theirs: Any, known: Sequence[Call], random: Random) -> None:
    """At least half of what PostgreSQL answers is answered, none of it otherwise.

    Of all it is more than three quarters; what has no rule is internal (`int4inc`), of no type of a
    dataset, or of an extreme argument. So of the 70 of a chunk it is half by chance alone with a
    probability of less than 1 in 10^6.
    """
    psycopg = pytest.importorskip("psycopg")
    seen: Counter[str] = Counter()
    for _ in range(CHUNK):
        call, sql = statement(random, known)
        try:
            wanted = asked(theirs, sql)
        except psycopg.Error:
            continue
        try:
            found = asked(ours, sql)
        except psycopg.Error as error:
            seen["broken" if error.sqlstate == "XX000" else "refused"] += 1
            continue
        seen["answered"] += 1
        if call.name not in NOTED:
            assert _near(found, wanted), (sql, found, wanted)
    assert not seen["broken"]
    assert seen["answered"] > seen["refused"], seen


def _near(found: Told, wanted: Told) -> bool:
    """The same texts, and numbers to twelve digits: a float here may be a numeric there."""
    pairs = zip(found.rows, wanted.rows, strict=True)
    return found.names == wanted.names and all(
        _same(a, b) for mine, theirs in pairs for a, b in zip(mine, theirs, strict=True)
    )


def _same(mine: str | None, theirs: str | None) -> bool:
    if mine is None or theirs is None or mine == theirs:
        return mine == theirs
    try:
        a, b = float(mine), float(theirs)
    except ValueError:
        return False
    return abs(a - b) <= 1e-12 * max(1, abs(a), abs(b))
