"""Units in parts, one after the other, give the integers of all units at once."""

from __future__ import annotations

import pytest
from neighbor_search.batches import compare, may_be_compared
from neighbor_search.share import in_turn
from neighbor_search.sidecar import LIMITS
from notes.blocks import Claim, accepted
from notes.compiler import prepared
from physical.strategies import is_batched

from dpsql.errors import Error
from dpsql.physical.engine_query import emit_query
from dpsql.physical.plan import PhysicalPlan
from dpsql.physical.strategy.choose_groups_first import ChooseGroupsFirst
from dpsql.physical.strategy.per_unit import PerUnit

SHARE = 37
"""One in so many statements is tried in every run."""


@pytest.mark.bounds
@pytest.mark.parametrize(
    ("claim", "limits"),
    in_turn(
        ((f"{c.name}-{limits}", (c, limits)) for limits in ("narrow", "all") for c in accepted()),
        SHARE,
    ),
)
def test_every_statement_of_the_notes_has_the_same_integers(claim: Claim, limits: str) -> None:
    try:
        releases = prepared(claim.sql, claim.schema, claim.verified, limits=LIMITS[limits]).releases
    except Error:
        return  # refused under narrow limits
    for release in filter(may_be_compared, releases):
        compare(release, claim.schema, claim.verified)
        choice, batches = release.choice, release.step.batches
        if batches is not None:
            own = emit_query(choice.plan, choice.limited, {}, in_batches=True)
            assert batches.query == own


@pytest.mark.parametrize(
    ("sql", "strategy"),
    [
        ("SELECT visit_date, count(*), avg(cost) FROM visits GROUP BY 1", PerUnit),
        ("SELECT ward, median(cost) FROM visits GROUP BY 1", PerUnit),
        (
            "SELECT date_trunc('month', visit_date), sum(cost) FROM visits GROUP BY 1",
            ChooseGroupsFirst,
        ),
    ],
)
def test_what_waits_for_other_rows_of_its_unit_goes_in_parts(
    sql: str, strategy: type[PhysicalPlan]
) -> None:
    (release,) = prepared(sql, "clinic", frozenset()).releases
    assert isinstance(release.choice.plan, strategy)
    assert is_batched(release)
    assert release.step.batches is not None


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT ward, count(DISTINCT doctor_id) FROM visits GROUP BY 1",
        "SELECT region_id, count(*) FROM readings, doctors GROUP BY 1",
        "SELECT visit_date, count(*) FROM visits WHERE ward = 'ER' GROUP BY 1",
    ],
    ids=[
        "values that units share",
        "rows that are units",
        "few rows of most units",
    ],
)
def test_what_does_not_add_up_or_waits_for_nothing_is_found_at_once(sql: str) -> None:
    for release in prepared(sql, "clinic", frozenset({"patients"})).releases:
        assert not is_batched(release)
        assert release.step.batches is None
        with pytest.raises(ValueError, match="in each batch"):
            emit_query(release.choice.plan, release.choice.limited, {}, in_batches=True)
