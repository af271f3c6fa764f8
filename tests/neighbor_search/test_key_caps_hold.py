"""The neighbour search over sums whose groups have caps of their own."""

from __future__ import annotations

from fractions import Fraction

import pytest
from neighbor_search.key_caps import key_caps
from neighbor_search.search import attack, search
from neighbor_search.share import in_turn
from notes.compiler import prepared

from dpsql.plan.bounded_release.estimator import DividedSum
from dpsql.privacy.distance import NeighborDistance

pytestmark = pytest.mark.bounds

NONE = frozenset[str]()
DECIMALS = (Fraction(1700), Fraction(5, 2), Fraction(300))
SMALL = (Fraction(7), Fraction(2), Fraction(1))
DOUBLES = (Fraction(1), Fraction(1, 8), Fraction(1, 3))
STATEMENTS = {
    "decimals": ("SELECT ward, sum(cost) FROM visits GROUP BY ward", DECIMALS),
    "a number of rows": ("SELECT ward, sum(cost), count(*) FROM visits GROUP BY ward", DECIMALS),
    "both signs": ("SELECT kind, sum(score), sum(-score) FROM tests GROUP BY kind", SMALL),
    "doubles": ("SELECT insured, sum(weight) FROM patients GROUP BY insured", DECIMALS),
    "rows that are units": ("SELECT sensor, sum(value) FROM readings GROUP BY sensor", DOUBLES),
    "counted rows that are units": (
        "SELECT sensor, sum(value), count(value) FROM readings GROUP BY sensor",
        DOUBLES,
    ),
    "a condition": (
        "SELECT ward, sum(cost) FILTER (WHERE cost > 10) FROM visits GROUP BY ward",
        DECIMALS,
    ),
    "a computed key": ("SELECT month(visit_date), sum(cost) FROM visits GROUP BY 1", DECIMALS),
    "no bounds": ("SELECT ward, sum(visit_id) FROM visits GROUP BY ward", SMALL),
    "two keys": (
        "SELECT ward, sex, sum(cost) FROM visits JOIN patients USING (patient_id) GROUP BY 1, 2",
        DECIMALS,
    ),
}


@pytest.mark.parametrize(
    ("about", "apart", "rows"),
    in_turn(  # eight ways: every run tries each of them, and each statement
        (
            (
                f"{about}-{units}{' replaced' * replaced}{' few rows' * (rows is not None)}",
                (about, NeighborDistance(units, replaced), rows),
            )
            for about in STATEMENTS
            for units in (1, 3)
            for replaced in (False, True)
            for rows in (None, 3)
        ),
        share=3,
    ),
)
def test_caps_by_key_change_no_more_than_derived(
    about: str, apart: NeighborDistance, rows: int | None
) -> None:
    sql, caps = STATEMENTS[about]
    ready = prepared(sql, "clinic", NONE, apart, key_caps(sql, "clinic", caps, rows))
    (release,) = ready.releases
    assert any(isinstance(o.estimator, DividedSum) for o in release.step.bounded.outputs)
    attack(ready, search("clinic", NONE, 1, apart, 2), sql)
