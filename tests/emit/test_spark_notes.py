"""The notes' statements and TPC-H's on Spark: DuckDB's integers, under limits that don't bind.

Equal integers are no evidence that limits hold: `test_spark_bounds.py` has those that bind.
"""

from __future__ import annotations

import sys
from collections import Counter
from functools import cache
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from differential import world
from differential.exact_answer import prepared as prepared_over
from differential.statement import tpch
from differential.test_tpch import ANSWERED
from emit import spark_server
from emit.spark_databases import NoKeys, cells, prepared
from neighbor_search.share import in_turn
from notes.blocks import Claim, accepted
from notes.exact import exact_table, raw_groups

from dpsql.audit.databases.database_batch import Groups
from dpsql.engine.spark.semantics import SUPPORTED
from dpsql.errors import Error, Refused
from dpsql.physical.push_down import push_down
from dpsql.plan.bounded_release.server_query import ServerQuery
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.structs import replace

SHARE = 150
"""A statement takes a second: each run asks few of them, `-m slow` all."""

GENERATED = frozenset({"auction", "clinic", "pairs", "parcels", "trial", "families", "works"})
"""The fixtures of which there are clean rows."""

COVERED = 400
"""So many of the notes' 503 statements over private rows are computed on Spark."""


def pushed(release: CompiledRelease) -> ServerQuery | None:
    """The release on Spark; None where something in it is on no list."""
    try:
        return push_down(release.choice, SUPPORTED).query
    except Refused:
        return None


def cases(schemas: frozenset[str] | None = None) -> list[tuple[str, tuple[Claim]]]:
    """The notes' plain statements over `schemas`."""
    claims = (c for c in accepted() if schemas is None or c.schema in schemas)
    return [(claim.name, (claim,)) for claim in claims]


def whole(schemas: frozenset[str] | None = None) -> list[Claim]:
    """The same, of which no run tries a share."""
    return [claim for _, (claim,) in cases(schemas)]


@pytest.mark.in_turn
def test_most_notes_are_covered() -> None:
    reasons: Counter[str] = Counter()
    statements = 0
    for claim in accepted():
        releases = prepared(claim.sql, claim.schema).releases
        statements += bool(releases)
        try:
            for release in releases:
                push_down(release.choice, SUPPORTED)
        except Refused as refusal:
            reasons[refusal.message] += 1
    lines = [f"{statements - reasons.total()} of {statements} statements"]
    lines += [f"{count}: {reason}" for reason, count in reasons.most_common()]
    sys.stdout.write("\n".join([*lines, ""]))
    assert statements - reasons.total() >= COVERED


def _groups(connection: duckdb.DuckDBPyConnection, release: CompiledRelease) -> Groups:
    """DuckDB's integers; the tables that it reads are registered."""
    count = len(release.step.bounded.contributions.statistics)
    if not count:
        return {}
    return spark_server.groups(
        spark_server.tuples(raw_groups(connection, release, "1").totals), count
    )


def unverified(own: world.World) -> world.World:
    """The same database, of which no key is believed."""
    return replace(own, facts=NoKeys(own.schema, own.connection, frozenset()))


@cache
def _clean(schema: str) -> str:
    name = f"clean {schema}"
    own = world.generated(schema)
    spark_server.create_like(name, own.schema, own.connection)
    return name


def _has_duckdbs_integers(claim: Claim) -> int:
    """Ask a statement of clean rows on both engines; how many releases were compared."""
    own = unverified(world.generated(claim.schema))
    try:
        ready = prepared_over(claim.sql, own)
    except Error:
        return 0  # refused where keys are verified, or of other rows
    compared = 0
    for release in ready.releases:
        query = pushed(release)
        if query is None or release.step.reads:
            continue
        count = len(release.step.bounded.contributions.statistics)
        exact_table(own.connection, release, {})
        name = _clean(claim.schema)
        assert spark_server.totals(query, name, count) == _groups(own.connection, release)
        raw = raw_groups(own.connection, release, "1")
        for own_cells, table in zip(
            spark_server.histograms(query, name), raw.histograms, strict=True
        ):
            assert own_cells == cells(spark_server.tuples(table))
        compared += 1
    return compared


@pytest.mark.parametrize("claim", in_turn(cases(GENERATED), SHARE))
def test_integers_are_duckdbs_where_no_limit_binds(claim: Claim) -> None:
    _has_duckdbs_integers(claim)


@pytest.mark.slow
def test_integers_of_all_notes_are_duckdbs() -> None:
    faults, compared = [], 0
    for claim in whole(GENERATED):
        try:
            compared += _has_duckdbs_integers(claim)
        except Exception as error:  # noqa: BLE001 - all of them are told
            faults.append(f"{claim.name}: {str(error)[:400]}")
    sys.stdout.write(f"{compared} releases have DuckDB's integers\n")
    assert not faults, "\n".join(faults)


TPCH_NOT_COVERED = frozenset({17, 22})
"""Their second release reads what the first released, which isn't on the server."""


@pytest.mark.slow
def test_tpch_has_duckdbs_integers(tpch_folder: Path) -> None:
    own = unverified(world.of_files("tpch", tpch_folder))
    spark_server.create_like("tpch", own.schema, own.connection)
    refused = set()
    for number in ANSWERED:
        ready = prepared_over(tpch()[number].sql, own)
        tables: dict[str, pa.Table] = {}
        for release in ready.releases:
            try:
                query = push_down(release.choice, SUPPORTED).query
            except Refused as refusal:
                sys.stdout.write(f"{number}: {refusal}\n")
                refused.add(number)
                break
            tables[release.name] = exact_table(own.connection, release, tables)
            expected = _groups(own.connection, release)
            count = len(release.step.bounded.contributions.statistics)
            assert spark_server.totals(query, "tpch", count) == expected, number
    sys.stdout.write(f"{len(ANSWERED) - len(refused)} of {len(ANSWERED)} answered queries\n")
    assert refused == TPCH_NOT_COVERED
