"""The neighbour search over generated queries: what one unit changes stays within what is derived.

A case is a query, a random database and all its neighbours; each query meets six databases in one
statement. Seeds are fixed, so that nothing fails by chance.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from fractions import Fraction
from random import Random

import pytest
from fuzz.pool import private_tables
from fuzz.query import query
from neighbor_search.search import WORLDS, attack, search
from neighbor_search.share import values_in_turn
from notes.compiler import prepared

from dpsql.bounding.options import AS_DECLARED, ContributionLimits
from dpsql.errors import Error
from dpsql.session.compile.compiled import CompiledStatement

CHUNK = 10
ORDINARY = int(os.environ.get("DPSQL_CASES", "450"))
LONG = int(os.environ.get("DPSQL_CASES", "12000"))
POOLS = 8
"""Sets of random databases, half of them with keys that hold."""


@pytest.mark.parametrize("chunk", values_in_turn(range(-(-ORDINARY // (CHUNK * WORLDS))), 4))
def test_no_neighbour_changes_more_than_derived(chunk: int) -> None:
    _attack(Random(f"ordinary {chunk}"))


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(-(-LONG // (CHUNK * WORLDS))))
def test_no_neighbour_changes_more_than_derived_at_length(chunk: int) -> None:
    _attack(Random(f"long {chunk}"))


def test_most_generated_queries_are_accepted() -> None:
    random = Random("acceptance")
    tried = [_accepted(query(random), frozenset()) for _ in range(200)]
    assert sum(ready is not None for ready in tried) > 100


def _attack(random: Random) -> None:
    """As many queries as a chunk has, each on all databases of a search."""
    seed = random.randrange(POOLS)
    verified = private_tables("clinic") if seed % 2 else frozenset()
    for sql, ready in _queries(random, verified):
        attack(ready, search("clinic", verified, seed), sql)


def _queries(random: Random, verified: frozenset[str]) -> Iterator[tuple[str, CompiledStatement]]:
    count = 0
    while count < CHUNK:
        sql = query(random)
        cap = random.choice([None, None, None, Fraction(5, 2), Fraction(60), Fraction(1500)])
        ready = _accepted(sql, verified, ContributionLimits(unit_sum=cap))
        if ready is not None and ready.releases:
            count += 1
            yield f"{sql}\n{cap}", ready


def _accepted(
    sql: str, verified: frozenset[str], limits: ContributionLimits = AS_DECLARED
) -> CompiledStatement | None:
    """`sql` prepared; None if it is refused, which only an error of ours may do."""
    try:
        return prepared(sql, "clinic", verified, None, limits)
    except Error:
        return None
