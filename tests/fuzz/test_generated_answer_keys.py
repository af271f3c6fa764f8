"""Statements that share an answer have the same integers, on databases that try to tell them apart.

A pair is a statement and a change of it; where both have a release of one key, both are run without
noise. That changes of meaning are seen at all is for the seeded bugs to show.
"""

from __future__ import annotations

import os
from random import Random

import duckdb
import pyarrow as pa
import pytest
from fuzz.dense import DATABASES, dense
from fuzz.twin import pair
from neighbor_search.share import values_in_turn
from notes.compiler import prepared
from notes.exact import exact_table

from dpsql.errors import Error
from dpsql.session.compile.compiled import CompiledStatement

pytestmark = pytest.mark.bounds

CHUNK = 10
ORDINARY = 80
LONG = int(os.environ.get("DPSQL_PAIRS", "20000"))


@pytest.mark.parametrize("chunk", values_in_turn(range(ORDINARY // CHUNK), 4))
def test_one_key_has_one_answer(chunk: int) -> None:
    assert _compare(Random(f"keys {chunk}")) > 0


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(LONG // CHUNK))
def test_one_key_has_one_answer_at_length(chunk: int) -> None:
    _compare(Random(f"keys at length {chunk}"))


def _compare(random: Random) -> int:
    """How many pairs of a chunk have a key in common, and were compared."""
    found = 0
    for _ in range(CHUNK):
        one, other, ready = "", "", None
        while ready is None:
            one, other = pair(random)
            ready = None if one == other else _both(one, other)
        keys = [{release.key for release in each.releases} for each in ready]
        if keys[0] & keys[1]:
            found += 1
            _check(*ready, f"{one}\n{other}")
    return found


def _both(one: str, other: str) -> tuple[CompiledStatement, CompiledStatement] | None:
    """Both statements, if both are answered with noise."""
    try:
        ready = prepared(one, "clinic", frozenset()), prepared(other, "clinic", frozenset())
    except Error:
        return None
    return ready if all(each.releases for each in ready) else None


def _check(one: CompiledStatement, other: CompiledStatement, pair_of: str) -> None:
    for world in range(DATABASES):
        try:
            first, second = _tables(one, world), _tables(other, world)
        except duckdb.Error:
            dense.cache_clear()  # DuckDB's own failure, after which the database is of no use
            continue
        for key in first.keys() & second.keys():
            same = _cells(first[key]) == _cells(second[key])
            assert same, f"other integers than of the other statement of that key:\n{pair_of}"


def _tables(ready: CompiledStatement, world: int) -> dict[str, pa.Table]:
    """Each release without noise, by its key; a later one reads them as they are."""
    worlds = dense()
    worlds.load(world)
    named: dict[str, pa.Table] = {}
    for release in ready.releases:
        named[release.name] = exact_table(worlds.connection, release, named)
    return {release.key: named[release.name] for release in ready.releases}


def _cells(table: pa.Table) -> list[str]:
    # As text: NaN equals nothing, and 1 equals TRUE.
    columns = [column.to_pylist() for column in table.columns]
    return sorted(map(repr, zip(*columns, strict=True)))
