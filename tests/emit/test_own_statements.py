"""CALIBRATE and SUGGEST BOUNDS on servers: DuckDB's integers, and neighbours are as near.

Of a unit with more keys than count, others are drawn there: then sums of all cells are compared.
"""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest
from differential.world import generated
from emit import postgres_server, spark_databases, spark_server
from emit.capped_sums import in_duckdb
from emit.own_statements import STATEMENTS, name
from emit.test_spark_bounds import changes_no_more
from neighbor_search.search import Search, search
from neighbor_search.share import in_turn
from notes.compiler import prepared

from dpsql.analysis.lineage.lineage import unit_kind
from dpsql.audit.sensitivity.bound_check import violations
from dpsql.bounding.options import AS_DECLARED
from dpsql.engine.spark.semantics import SUPPORTED as ON_SPARK
from dpsql.physical.push_down import push_down

CLEAN = "own statements"

SHARE = 15
"""A statement on Spark takes seconds."""


@cache
def databases() -> tuple[Search, tuple[str, ...]]:
    """Databases with all their neighbors, and the schemas that hold them on PostgreSQL."""
    pairs = search("clinic", frozenset(), databases=1)
    names = tuple(f"{CLEAN} {n}" for n in range(pairs.worlds.count))
    for number, schema in enumerate(names):
        pairs.worlds.load(number)
        postgres_server.create_like(schema, pairs.worlds.schema, pairs.worlds.connection)
    return pairs, names


@cache
def on_postgres() -> str:
    """The schema of a database that all engines can hold."""
    own = generated("clinic")
    postgres_server.create_like(CLEAN, own.schema, own.connection)
    return CLEAN


@cache
def on_spark() -> str:
    """The session of the same database."""
    own = generated("clinic")
    spark_server.create_like(CLEAN, own.schema, own.connection)
    return CLEAN


@pytest.mark.bounds
@pytest.mark.parametrize("sql", STATEMENTS, ids=name)
def test_postgresql_has_duckdbs_integers_and_they_change_no_more_than_derived(sql: str) -> None:
    pairs, names = databases()
    for release in prepared(sql, "clinic", frozenset()).releases:
        query = push_down(release.choice).query
        count = len(release.step.bounded.contributions.statistics)
        assert postgres_server.totals(query, on_postgres(), count) == in_duckdb(release)
        seen = [postgres_server.totals(query, each, count) for each in names]
        for pair in pairs.relevant(unit_kind(release.release.source) or ""):
            for fault in violations(seen[pair.one], seen[pair.other], release, release.sensitivity):
                raise AssertionError(f"{fault}: {sql}\nwithout {pair.lacks} of {pair.rows}")


@pytest.mark.bounds
@pytest.mark.parametrize("sql", in_turn(((name(sql), (sql,)) for sql in STATEMENTS), SHARE))
def test_spark_has_duckdbs_integers_and_they_change_no_more_than_derived(sql: str) -> None:
    for release in spark_databases.prepared(sql, "clinic").releases:
        query = push_down(release.choice, ON_SPARK).query
        count = len(release.step.bounded.contributions.statistics)
        assert spark_server.totals(query, on_spark(), count) == in_duckdb(release)
    assert changes_no_more(sql, "clinic", AS_DECLARED, Counter())
