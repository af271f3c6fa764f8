"""On PostgreSQL a unit's sums have the caps that they have in DuckDB, and neighbors are as near."""

from __future__ import annotations

from functools import cache

import pytest
from differential.world import generated
from emit import postgres_server
from emit.capped_sums import CAPPED, ROWS, are_capped, in_duckdb, limits_of
from neighbor_search.search import Search, search
from notes.compiler import prepared

from dpsql.analysis.lineage.lineage import unit_kind
from dpsql.audit.sensitivity.bound_check import violations
from dpsql.physical.push_down import push_down

DATABASES = 2


@cache
def databases() -> tuple[Search, tuple[str, ...]]:
    """Databases with all their neighbors, and the schemas that hold them on the server."""
    pairs = search("clinic", frozenset(), databases=DATABASES)
    names = tuple(f"capped {n}" for n in range(pairs.worlds.count))
    for number, name in enumerate(names):
        pairs.worlds.load(number)
        postgres_server.create_like(name, pairs.worlds.schema, pairs.worlds.connection)
    return pairs, names


@cache
def clean() -> str:
    """The schema of a database that both engines can hold."""
    own = generated("clinic")
    postgres_server.create_like("capped clean", own.schema, own.connection)
    return "capped clean"


@pytest.mark.bounds
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("name", CAPPED)
def test_integers_are_duckdbs_and_change_no_more_than_derived(name: str, rows: int | None) -> None:
    sql, caps = CAPPED[name]
    (release,) = prepared(sql, "clinic", frozenset(), None, limits_of(sql, caps, rows)).releases
    assert are_capped(release)
    query = push_down(release.choice).query
    pairs, names = databases()
    count = len(release.step.bounded.contributions.statistics)
    seen = [postgres_server.totals(query, each, count) for each in names]
    for pair in pairs.relevant(unit_kind(release.release.source) or ""):
        for fault in violations(seen[pair.one], seen[pair.other], release, release.sensitivity):
            raise AssertionError(f"{fault}: {sql}\nwithout {pair.lacks} of {pair.rows}")
    assert postgres_server.totals(query, clean(), count) == in_duckdb(release)
