"""Servers have DuckDB's integers, and fail no more than it, on tables that none was written for.

Statements are nests of what servers compute, over values at the ends of their types. Which groups
of a unit are drawn isn't compared: no limit binds. Seeds are fixed: nothing fails by chance.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from random import Random
from types import ModuleType

import pytest
from emit import postgres_server, spark_server
from emit.test_postgres_notes import pushed as on_postgres
from emit.test_spark_notes import pushed as on_spark
from fuzz.hostile_table import INFINITE, HostileTable, hostile_table, statement
from fuzz.ways import told_value, without_zeros
from notes.exact import exact_table, raw_groups

from dpsql.audit.databases.database_batch import Groups
from dpsql.audit.databases.public_facts import WorldFacts
from dpsql.errors import Error
from dpsql.plan.bounded_release.server_query import ServerQuery
from dpsql.session.compile.compiled import compile_sql
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.compile.loss_conversion import query_loss

pytestmark = pytest.mark.bounds

LONG = int(os.environ.get("DPSQL_CASES", "2000")) // 40
STATEMENTS = {postgres_server: 25, spark_server: 8}
"""About one table; on Spark each takes a second."""

Pushed = Callable[[CompiledRelease], ServerQuery | None]
"""A release on a server; None where something in it is on no list."""


@pytest.mark.parametrize("server", [postgres_server, spark_server], ids=["postgresql", "spark"])
def test_servers_have_duckdbs_integers(server: ModuleType, tmp_path: Path) -> None:
    assert _compared(Random("on servers"), server, tmp_path, "generated on servers") > 3


@pytest.mark.slow
@pytest.mark.parametrize("server", [postgres_server, spark_server], ids=["postgresql", "spark"])
@pytest.mark.parametrize("case", range(LONG))
def test_servers_have_duckdbs_integers_at_length(
    server: ModuleType, case: int, tmp_path: Path
) -> None:
    _compared(Random(f"on servers at length {case}"), server, tmp_path, f"at length {case}")


def _compared(random: Random, server: ModuleType, folder: Path, name: str) -> int:
    """How many releases of one table's statements were compared."""
    is_spark = server is spark_server
    pushed: Pushed = on_spark if is_spark else on_postgres
    table = hostile_table(random, folder, () if is_spark else INFINITE)
    facts = WorldFacts(table.schema, table.connection, frozenset({"people"}))
    server.create_like(name, table.schema, table.connection)
    compared = 0
    for _ in range(STATEMENTS[server]):
        sql = statement(random, table)
        try:
            loss = query_loss(table.schema, Fraction(1))
            releases = compile_sql(sql, table.schema, facts, loss, "data").releases
        except Error:
            continue  # refused, with constants that are no values of a type, say
        for release in releases:
            query = None if release.step.reads else pushed(release)
            if query is not None:
                compared += 1
                found = _on_server(server, query, name, release)
                assert found == _in_duckdb(table, release), f"{sql}\n{table.schema}"
    return compared


def _on_server(
    server: ModuleType, query: ServerQuery, name: str, release: CompiledRelease
) -> list[Groups]:
    count = len(release.step.bounded.contributions.statistics)
    histograms = [
        {(*key, cell): (rows,) for key, cells in groups.items() for cell, rows in cells.items()}
        for groups in server.histograms(query, name)
    ]
    return [_told(groups) for groups in (server.totals(query, name, count), *histograms)]


def _in_duckdb(table: HostileTable, release: CompiledRelease) -> list[Groups]:
    count = len(release.step.bounded.contributions.statistics)
    exact_table(table.connection, release, {})  # registers the tables that are read
    raw = raw_groups(table.connection, release, "1")
    totals = spark_server.groups(spark_server.tuples(raw.totals), count) if count else {}
    histograms = [spark_server.groups(spark_server.tuples(t), 1) for t in raw.histograms]
    return [_told(groups) for groups in (totals, *histograms)]


def _told(groups: Groups) -> Groups:
    """Groups by keys that compare; one of zeros is as if it weren't there."""
    return {tuple(map(told_value, key)): row for key, row in without_zeros(groups).items()}
