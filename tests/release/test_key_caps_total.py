"""Sums whose groups have caps of their own, as exact integers of any rows."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from neighbor_search.key_caps import key_caps
from release.test_unit_sums import release_of, totals

from dpsql.bounding.options import KeyCaps
from dpsql.plan.bounded_release.estimator import DividedSum
from dpsql.plan.bounded_release.key_factors import KeyFactors
from dpsql.plan.bounded_release.statistic import CappedSum

WEIGHTS = "SELECT insured, sum(weight) FROM patients GROUP BY insured"
CAPS = (Fraction(200), Fraction(25))


@pytest.mark.parametrize("insured", [True, False, None])
@pytest.mark.parametrize(
    ("weight", "counted"),
    [
        (10.0, 10),
        (150.0, 150),
        (1e308, 300),
        (math.inf, math.inf),
        (-1.0, 0),
        (-math.inf, 0),
        (math.nan, 0),
        (None, 0),
        (5e-324, 0),
    ],
)
def test_a_value_within_its_bounds_is_multiplied_by_the_factor_of_its_key(
    weight: float | None, counted: float, insured: bool | None
) -> None:
    release = release_of(WEIGHTS, key_caps(WEIGHTS, "clinic", CAPS))
    (statistic,) = release.step.bounded.contributions.statistics
    (output,) = release.step.bounded.outputs
    assert isinstance(statistic.term, CappedSum)
    assert isinstance(output.estimator, DividedSum)
    (factor,) = output.estimator.factors.of_each([insured])
    found = totals(release, patients=[(1, 50, "F", weight, insured, "x")])
    steps = statistic.term.cap
    if counted < math.inf:
        steps = min(steps, round(factor * Fraction(counted) / statistic.term.value.step))
    assert found == [[steps]]


def test_a_factor_is_one_at_least() -> None:
    with pytest.raises(ValueError, match="1 at least"):
        KeyFactors(0, (("a", 0),), 1)


def test_a_cap_by_key_is_above_zero() -> None:
    key = release_of(WEIGHTS).release.keys[0].expression
    with pytest.raises(ValueError, match="above 0"):
        KeyCaps(key, ((True, Fraction(0)),), Fraction(1))
