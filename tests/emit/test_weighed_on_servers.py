"""Weights of units on servers, where no unit is in too many groups: DuckDB's integers."""

from __future__ import annotations

from fractions import Fraction

from differential import world
from emit import postgres_server, spark_server
from notes.exact import exact_table, raw_groups

from dpsql.audit.databases.database_batch import Groups
from dpsql.bounding.options import ReleaseOptions
from dpsql.engine.postgres.semantics import SUPPORTED as ON_POSTGRES
from dpsql.engine.spark.semantics import SUPPORTED as ON_SPARK
from dpsql.physical.push_down import push_down
from dpsql.plan.bounded_release.bounded_release import ByHash, LimitGroups
from dpsql.privacy.unit_weight import unit_weights
from dpsql.session.compile.compiled import compile_sql
from dpsql.session.compile.compiled_release import CompiledRelease
from dpsql.session.compile.loss_conversion import query_loss
from dpsql.session.options import QueryOptions

# A patient has three visits at most, and each of them is a group of its own.
SQL = "SELECT visit_id + 0 AS number, sum(cost) FROM visits GROUP BY number"


def weighed() -> tuple[CompiledRelease, Groups]:
    """The release over clean rows, and DuckDB's integers; not all units weigh the same."""
    own = world.generated("clinic")
    options = QueryOptions(release=ReleaseOptions(weighted_keys=True))
    loss = query_loss(own.schema, Fraction(1))
    ready = compile_sql(SQL, own.schema, own.facts, loss, "data", options=options)
    (release,) = ready.releases
    exact_table(own.connection, release, {})  # registers the tables that are read
    rows = spark_server.tuples(raw_groups(own.connection, release, "1").totals)
    groups = spark_server.groups(rows, len(release.sensitivity.per_group))
    limited = release.step.bounded.limited
    assert isinstance(limited, LimitGroups)
    assert isinstance(limited.limit, ByHash)
    most = limited.limit.groups
    assert {row[1] for row in groups.values()} == {weight for _, weight in unit_weights(most)[:3]}
    return release, groups


def test_postgres_finds_the_same_weights() -> None:
    own, name = world.generated("clinic"), "weighed"
    postgres_server.create_like(name, own.schema, own.connection)
    release, groups = weighed()
    query = push_down(release.choice, ON_POSTGRES).query
    assert postgres_server.totals(query, name, len(release.sensitivity.per_group)) == groups


def test_spark_finds_the_same_weights() -> None:
    spark_server.url()
    own, name = world.generated("clinic"), "weighed"
    spark_server.create_like(name, own.schema, own.connection)
    release, groups = weighed()
    query = push_down(release.choice, ON_SPARK).query
    assert spark_server.totals(query, name, len(release.sensitivity.per_group)) == groups
