"""Generated statements have PostgreSQL's answers, beside a server of it."""

from __future__ import annotations

import os
from collections import Counter
from random import Random
from typing import Any

import pytest
from fuzz.spoken import statement
from pgwire.asked_of_both import asked

CHUNK = 100
ORDINARY = 200
LONG = int(os.environ.get("DPSQL_SPOKEN", "10000"))


@pytest.mark.parametrize("chunk", range(ORDINARY // CHUNK))
def test_an_answer_is_postgresqls_or_a_refusal(ours: Any, theirs: Any, chunk: int) -> None:
    _compare(ours, theirs, Random(f"spoken {chunk}"))


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(LONG // CHUNK))
def test_an_answer_is_postgresqls_or_a_refusal_at_length(
    ours: Any, theirs: Any, chunk: int
) -> None:
    _compare(ours, theirs, Random(f"spoken at length {chunk}"))


def _compare(ours: Any, theirs: Any, random: Random) -> None:
    """At least nine of ten that PostgreSQL answers are answered, none of them otherwise."""
    psycopg = pytest.importorskip("psycopg")
    seen: Counter[str] = Counter()
    for _ in range(CHUNK):
        sql = statement(random)
        try:
            wanted = asked(theirs, sql)
        except psycopg.Error:
            continue
        try:
            found = asked(ours, sql)
        except psycopg.Error as error:
            seen["broken" if error.sqlstate == "XX000" else "refused"] += 1
            continue
        assert found.matches(wanted), (sql, found, wanted)
        seen["answered"] += 1
    assert not seen["broken"]
    assert seen["answered"] > 9 * seen["refused"]
