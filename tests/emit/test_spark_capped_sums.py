"""On Spark a unit's sums have the caps that they have in DuckDB, and neighbors are as near."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest
from differential.world import generated
from emit import spark_server
from emit.capped_sums import CAPPED, ROWS, are_capped, in_duckdb, limits_of
from emit.spark_databases import prepared
from emit.test_spark_bounds import changes_no_more
from neighbor_search.share import in_turn

from dpsql.engine.spark.semantics import SUPPORTED
from dpsql.physical.push_down import push_down

SHARE = 6
"""A statement takes seconds."""


@cache
def clean() -> str:
    """The name of a database that both engines can hold."""
    own = generated("clinic")
    spark_server.create_like("capped", own.schema, own.connection)
    return "capped"


@pytest.mark.bounds
@pytest.mark.parametrize(
    ("name", "rows"),
    in_turn(((f"{name}-{rows}", (name, rows)) for name in CAPPED for rows in ROWS), SHARE),
)
def test_integers_are_duckdbs_and_change_no_more_than_derived(name: str, rows: int | None) -> None:
    sql, caps = CAPPED[name]
    limits = limits_of(sql, caps, rows)
    (release,) = prepared(sql, "clinic", limits).releases
    assert are_capped(release)
    query = push_down(release.choice, SUPPORTED).query
    count = len(release.step.bounded.contributions.statistics)
    assert spark_server.totals(query, clean(), count) == in_duckdb(release)
    assert changes_no_more(sql, "clinic", limits, Counter())
