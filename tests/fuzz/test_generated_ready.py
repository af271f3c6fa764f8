"""The neighbour search over sidecars, with generated queries that are summed in two parts."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from random import Random

import pytest
from fuzz.query import query
from neighbor_search.share import values_in_turn
from neighbor_search.sidecar import LIMITS, attack, is_split, private, proved

from dpsql.bounding.options import AS_DECLARED
from dpsql.errors import Error
from dpsql.physical.strategy.split_by_contribution import SplitByContribution
from dpsql.physical.strategy.stored_unit_sums import StoredUnitSums

ORDINARY = 24
LONG = int(os.environ.get("DPSQL_CASES", "2000"))
CHUNK = 4

MEET = {"v": "t.visit_id = v.visit_id", "p": "v.patient_id = p.patient_id"}
SOURCES = [
    "visits v",
    f"visits v JOIN patients p ON {MEET['p']}",
    "tests t",
    f"tests t JOIN visits v ON {MEET['v']}",
    f"tests t JOIN visits v ON {MEET['v']} JOIN patients p ON {MEET['p']}",
    f"patients p JOIN (visits v JOIN tests t ON {MEET['v']}) ON {MEET['p']}",
]
KEYS = ["p.sex", "p.city", "p.age > 40", "p.sex || p.city", "v.patient_id % 2", "v.ward", "t.kind"]
ITEMS = [
    "count(*)",
    "sum(v.cost)",
    "avg(v.cost)",
    "count(v.cost)",
    "sum(t.score)",
    "avg(t.score)",
    "count(DISTINCT v.patient_id)",
    "sum(t.score) FILTER (WHERE p.age > 40)",
    "count(*) FILTER (WHERE v.patient_id <> 1)",
    "sum(CASE WHEN p.sex = 'f' THEN v.cost END)",
    "sum(t.score) FILTER (WHERE t.score > 2)",
    "sum(v.cost + 1)",
]
CONDITIONS = ["p.age > 30", "v.patient_id <> 2", "p.city IS NOT NULL", "v.cost > 10", "t.score > 1"]


@pytest.mark.bounds
@pytest.mark.parametrize("chunk", values_in_turn(range(ORDINARY // CHUNK), 6))
def test_no_neighbour_changes_more_than_derived(chunk: int) -> None:
    _attack(Random(f"ready {chunk}"))


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(LONG // CHUNK))
def test_no_neighbour_changes_more_than_derived_at_length(chunk: int) -> None:
    _attack(Random(f"ready at length {chunk}"))


def _attack(random: Random) -> None:
    """As many queries as a chunk has, half of them of sums that stand ready."""
    by_rows = _queries(random, query, SplitByContribution)
    for sql in (*by_rows, *_queries(random, _by_unit, StoredUnitSums)):
        for limits in LIMITS.values():
            attack(sql, "clinic", limits, databases=2)


def _queries(
    random: Random, asked: Callable[[Random], str], kind: type[StoredUnitSums | SplitByContribution]
) -> Iterator[str]:
    found = 0
    while found < CHUNK // 2:
        sql = asked(random)
        if kind in _kinds(sql):
            found += 1
            yield sql


def _by_unit(random: Random) -> str:
    """Mostly asked by what is known of units, of tables that lead to them."""
    source = random.choice(SOURCES)
    there = set(re.findall(r"\b(?:tests|visits|patients) (\w)", source))

    def some(texts: list[str], most: int) -> list[str]:
        known = [text for text in texts if {*re.findall(r"\b([tvp])\.", text)} <= there]
        return random.sample(known, min(len(known), random.randint(0, most)))

    keys, conditions = some(KEYS, 1), some(CONDITIONS, 1)
    items = some(ITEMS, 3) or ["count(*)"]
    where = f" WHERE {conditions[0]}" if conditions else ""
    by = " GROUP BY 1" if keys else ""
    return f"SELECT {', '.join(keys + items)} FROM {source}{where}{by}"


def _kinds(sql: str) -> set[type]:
    """How the rows of its releases are split; none if it is refused."""
    try:
        ready = proved(sql, "clinic", private("clinic"), AS_DECLARED, ready=True)
    except Error:
        return set()
    return {type(release.choice.plan) for release in ready.releases if is_split(release)}
