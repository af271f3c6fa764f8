"""Generated queries, whose units are taken in parts: the same integers as of all at once."""

from __future__ import annotations

import os
from random import Random

import pytest
from fuzz.query import query
from neighbor_search.batches import compare, may_be_compared
from neighbor_search.sidecar import LIMITS
from notes.compiler import prepared

from dpsql.errors import Error

ORDINARY = 8
LONG = int(os.environ.get("DPSQL_CASES", "2000"))
CHUNK = 8


@pytest.mark.parametrize("chunk", range(ORDINARY // CHUNK))
def test_the_integers_are_those_of_all_units_at_once(chunk: int) -> None:
    _compare(Random(f"parts {chunk}"))


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(LONG // CHUNK))
def test_the_integers_are_those_of_all_units_at_once_at_length(chunk: int) -> None:
    _compare(Random(f"parts at length {chunk}"))


def _compare(random: Random) -> None:
    """As many releases as a chunk has."""
    found = 0
    while found < CHUNK:
        try:
            sql, limits = query(random), LIMITS[random.choice(["all", "narrow"])]
            releases = prepared(sql, "clinic", frozenset(), limits=limits).releases
        except Error:
            continue
        for release in filter(may_be_compared, releases):
            found += 1
            compare(release, "clinic", frozenset())
