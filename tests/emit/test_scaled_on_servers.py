"""Units that are scaled on servers: to a norm, with DuckDB's integers, or to rows in all groups."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from types import ModuleType

import pytest
from differential import world
from emit import postgres_server, spark_server
from notes.exact import exact_table, raw_groups
from sqlglot import exp

from dpsql.audit.databases.database_batch import Groups
from dpsql.bounding.options import ContributionLimits
from dpsql.emit.release.limited_sums import limited_totals
from dpsql.engine.postgres.semantics import SUPPORTED as ON_POSTGRES
from dpsql.engine.spark.semantics import SUPPORTED as ON_SPARK
from dpsql.engine.supported import Supported
from dpsql.physical.push_down import push_down
from dpsql.plan.bounded_release.bounded_release import LimitGroups, integer_parts
from dpsql.privacy.over_groups import OverGroups
from dpsql.session.compile.compiled import compile_sql
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.compile.loss_conversion import query_loss
from dpsql.session.options import QueryOptions
from dpsql.structs import replace

WARDS = "SELECT ward, count(*), sum(cost), avg(cost) FROM visits GROUP BY ward"
SOME = "SELECT ward, count(*) FILTER (WHERE cost > 300) FROM visits GROUP BY ward"
"""One sum, alone: a unit has as few rows as reach it."""

MONTHS = (
    "SELECT kind, month(visit_date), sum(score) FROM visits JOIN tests USING (visit_id)"
    " GROUP BY 1, 2"
)
LIMITS = [
    ContributionLimits(groups, rows, over_groups=OverGroups.SCALE, norm_order=order)
    for groups, rows, order in ((1, 2, 2), (2, 1, 2), (2, 1, 1))
]


def test_no_norm_stands_beside_a_limit_of_all_rows() -> None:
    # A unit of more has two rows in a group, whose squares don't add up to that of their sum.
    release, _ = next(_scaled(WARDS))
    limited = release.step.bounded.limited
    assert isinstance(limited, LimitGroups)
    with pytest.raises(ValueError, match="a norm"):
        limited_totals(replace(limited, rows=3), exp.select("u"), frozenset())


@pytest.fixture(params=[WARDS, MONTHS])
def sql(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def _scaled(sql: str) -> Iterator[tuple[CompiledRelease, Groups]]:
    """Releases over clean rows with DuckDB's integers, some of which are of scaled units."""
    own = world.generated("clinic")
    loss, is_scaled = query_loss(own.schema, Fraction(1)), False
    for limits in LIMITS:
        options = QueryOptions(limits=limits)
        ready = compile_sql(sql, own.schema, own.facts, loss, "data", options=options)
        (release,) = ready.releases
        parts = integer_parts(release.step.bounded.limited)
        assert parts == 1024
        exact_table(own.connection, release, {})  # registers the tables that are read
        rows = spark_server.tuples(raw_groups(own.connection, release, "1").totals)
        groups = spark_server.groups(rows, len(release.sensitivity.per_group))
        is_scaled |= any(number % parts for row in groups.values() for number in row)
        yield release, groups
    assert is_scaled


def test_postgres_finds_the_same_integers(sql: str) -> None:
    own, name = world.generated("clinic"), f"scaled, {len(sql)}"
    postgres_server.create_like(name, own.schema, own.connection)
    for release, groups in _scaled(sql):
        query = push_down(release.choice, ON_POSTGRES).query
        assert postgres_server.totals(query, name, len(release.sensitivity.per_group)) == groups


def test_spark_finds_the_same_integers(sql: str) -> None:
    spark_server.url()
    own, name = world.generated("clinic"), f"scaled, {len(sql)}"
    spark_server.create_like(name, own.schema, own.connection)
    for release, groups in _scaled(sql):
        query = push_down(release.choice, ON_SPARK).query
        assert spark_server.totals(query, name, len(release.sensitivity.per_group)) == groups


def _cut(server: ModuleType, supported: Supported, name: str) -> None:
    """Each unit has as many rows in all its groups as on DuckDB, in another order of groups."""
    own = world.generated("clinic")
    server.create_like(name, own.schema, own.connection)
    limits = QueryOptions(limits=ContributionLimits(rows_per_group=2, rows=2))
    loss = query_loss(own.schema, Fraction(1))
    for sql in (WARDS, SOME):
        ready = compile_sql(sql, own.schema, own.facts, loss, "data", options=limits)
        (release,) = ready.releases
        count = len(release.sensitivity.per_group)
        exact_table(own.connection, release, {})
        rows = spark_server.tuples(raw_groups(own.connection, release, "1").totals)
        query = push_down(release.choice, supported).query
        counts = (server.totals(query, name, count), spark_server.groups(rows, count))
        found, expected = (sum(integers[0] for integers in groups.values()) for groups in counts)
        assert found == expected > 0


def test_postgres_keeps_as_many_rows_in_all_groups() -> None:
    _cut(postgres_server, ON_POSTGRES, "cut")


def test_spark_keeps_as_many_rows_in_all_groups() -> None:
    spark_server.url()
    _cut(spark_server, ON_SPARK, "cut")
