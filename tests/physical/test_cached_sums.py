"""From sums that an engine may keep, neighbours change no more, and all integers are the same."""

from __future__ import annotations

import pytest
from neighbor_search.batches import compare
from neighbor_search.search import attack, search
from neighbor_search.sidecar import LIMITS
from notes.compiler import prepared
from physical.strategies import from_cached_sums

from dpsql.bounding.options import ContributionLimits
from dpsql.plan.bounded_release.bounded_release import ByRank, LimitGroups
from dpsql.structs import replace

VISITS = "SELECT visit_id + 0 AS number, count(*), sum(cost) FROM visits GROUP BY number"
JOINED = (
    "SELECT city, ward, sum(cost) FROM visits JOIN patients USING (patient_id) GROUP BY city, ward"
)
PEOPLE = "SELECT city, count(DISTINCT patient_id) FROM patients GROUP BY city"


TWO_IN_ALL = ContributionLimits(rows_per_group=1, rows=2)
"""Which binds for units of three rows, of which there are some."""


@pytest.mark.bounds
@pytest.mark.parametrize(
    "limits",
    [*(LIMITS[name] for name in ("narrow", "scaled")), TWO_IN_ALL],
    ids=["narrow", "scaled", "two in all"],
)
@pytest.mark.parametrize("sql", [VISITS, JOINED, PEOPLE])
def test_cached_sums_have_the_bounds_and_the_integers_of_the_rows(
    sql: str, limits: ContributionLimits
) -> None:
    ready = prepared(sql, "clinic", frozenset(), limits=limits)
    releases = tuple(map(from_cached_sums, ready.releases))
    attack(replace(ready, releases=releases), search("clinic", frozenset()).of(range(3)), sql)
    for release in ready.releases:
        compare(release, "clinic", frozenset())


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT ward, count(*) FROM visits GROUP BY 1",
        "SELECT visit_date, median(cost) FROM visits GROUP BY 1",
        "SELECT visit_date, count(DISTINCT ward) FROM visits GROUP BY 1",
        "SELECT region_id, count(*) FROM readings, doctors GROUP BY 1",
    ],
    ids=["few listed groups", "cells of rows", "values that units share", "rows that are units"],
)
def test_what_is_no_sum_of_units_in_many_groups_is_not_cached(sql: str) -> None:
    for release in prepared(sql, "clinic", frozenset({"patients"})).releases:
        assert release.step.cached_sums is None


def test_groups_that_are_kept_in_turn_are_not_cached() -> None:
    """Sums with a cap are found for each unit, also where few groups are listed."""
    sql = "SELECT month(visit_date), sum(cost) FROM visits GROUP BY 1"
    (release,) = prepared(sql, "clinic", frozenset(), limits=LIMITS["capped"]).releases
    limited = release.step.bounded.limited
    assert isinstance(limited, LimitGroups)
    assert isinstance(limited.limit, ByRank)
    assert release.step.cached_sums is None


def test_limits_are_in_no_cached_sums() -> None:
    names = set()
    for limits in ("all", "narrow", "few"):
        (release,) = prepared(VISITS, "clinic", frozenset(), limits=LIMITS[limits]).releases
        assert release.step.cached_sums is not None
        names.add(release.step.cached_sums.name)
    assert len(names) == 1
