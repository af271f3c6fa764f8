"""Generated queries find the same integers however the same rows are stored."""

from __future__ import annotations

import os
from collections.abc import Iterator
from random import Random

import pytest
from fuzz.pool import private_tables
from fuzz.query import query
from neighbor_search import storages
from neighbor_search.bags import bags, check
from notes.compiler import prepared

from dpsql.errors import Error
from dpsql.session.compile.compiled import CompiledStatement

CHUNK = 10
ORDINARY = int(os.environ.get("DPSQL_CASES", "100"))
LONG = int(os.environ.get("DPSQL_CASES", "2000"))
JOINED_WITH_ITSELF = " s JOIN c"
"""How `fuzz.source` joins the rows of a CTE by a key that several of them have."""

POOLS = 4
"""Sets of random databases, half of them with keys that hold."""


@pytest.mark.parametrize("chunk", range(-(-ORDINARY // CHUNK)))
def test_integers_follow_from_the_bag_of_rows(chunk: int) -> None:
    random = Random(f"bags {chunk}")
    seed = random.randrange(POOLS)
    verified = _verified(seed)
    for sql, ready in _queries(random, verified):
        check(ready, bags("clinic", verified, seed, 3), sql)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(-(-LONG // CHUNK)))
def test_integers_dont_depend_on_storage(
    chunk: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Orders, row groups, files and 1 to 8 threads, over 300,000 rows."""
    random = Random(f"storages {chunk}")
    verified = _verified(random.randrange(POOLS))
    folder = tmp_path_factory.getbasetemp() / f"storages {bool(verified)}"
    for sql, ready in _queries(random, verified):
        if sql.count(JOINED_WITH_ITSELF) > 1:
            continue  # of rows that share a key, each with each, twice over: it never ends
        storages.check(ready, storages.stored("clinic", storages.Bag(bool(verified)), folder), sql)


def _verified(seed: int) -> frozenset[str]:
    return private_tables("clinic") if seed % 2 else frozenset()


def _queries(random: Random, verified: frozenset[str]) -> Iterator[tuple[str, CompiledStatement]]:
    count = 0
    while count < CHUNK:
        sql = query(random)
        try:
            ready = prepared(sql, "clinic", verified)
        except Error:
            continue
        if ready.releases:
            count += 1
            yield sql, ready
