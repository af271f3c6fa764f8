"""Intervals of means of all groups at once are those of each group alone."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest

from dpsql.plan.bounded_release.estimator import Mean
from dpsql.release.columns.confidence_interval import Combined, error_interval
from dpsql.release.columns.value_errors import mean_ends

SPREADS = (Combined(400.0, 40), Combined(25.0, 10))


@pytest.mark.parametrize("step", [Fraction(1), Fraction(1, 100)])
def test_the_ends_of_many_means_are_those_of_each(step: Fraction) -> None:
    mean = Mean(0, 1, 50, step, 0 * step, 100 * step)
    random = Random(5)
    rows = [(random.randint(-3000, 3000), random.randint(-30, 200)) for _ in range(500)]
    rows += [(0, 0), (-10_000, 1), (10_000, 11), (5, 10), (0, 10**9), (-(10**9), 10**9)]
    totals, counts = (np.array(column) for column in zip(*rows, strict=True))
    low, high = mean_ends(mean, {0: totals, 1: counts}, SPREADS)
    for row, lower, upper in zip(rows, low, high, strict=True):
        _, *expected = error_interval(mean, row, SPREADS)
        assert [lower, upper] == pytest.approx([float(end or 0) for end in expected], abs=1e-9)
