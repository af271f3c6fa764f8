"""95 % intervals of variances, correlations and lines hold the value also of few rows."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, sqrt
from statistics import median, pstdev

import numpy as np
import pytest
from neighbor_search.share import in_turn
from privacy.seeded import SeededRandomness

from dpsql.plan.aggregate import AggregateFunction
from dpsql.plan.bounded_release.estimator import MomentIndices, Moments
from dpsql.privacy.mechanisms.noise.gaussian import DiscreteGaussian
from dpsql.privacy.mechanisms.noise.laplace import DiscreteLaplace
from dpsql.privacy.mechanisms.noise.noise import IndependentNoise
from dpsql.release.columns.confidence_interval import error_interval
from dpsql.release.columns.moments import moment

RADIUS = 50
X, Y = (
    MomentIndices(1, 2, 50, RADIUS, Fraction(1)),
    MomentIndices(3, 4, 40, RADIUS, Fraction(1, 10)),
)
OF_ONE = ("VAR_POP", "VAR_SAMP", "STDDEV_POP", "STDDEV_SAMP")
OF_TWO = (
    *("COVAR_POP", "COVAR_SAMP", "CORR"),
    *("REGR_SLOPE", "REGR_INTERCEPT", "REGR_R2"),
)
DRAWS = 200
LEAST = 0.86
"""Where 95 % of intervals hold the value, fewer of 200 do in one of 10^6 runs."""


@pytest.mark.parametrize(
    ("name", "rows", "deviation", "gaussian"),
    in_turn(
        (
            (f"{name}-{rows}-{deviation}-{law}", (name, rows, deviation, law == "gaussian"))
            for name in (*OF_ONE, *OF_TWO)
            for rows in (30, 1_000)
            for deviation in (4, 25)
            for law in ("laplace", "gaussian")
        ),
        share=3,
    ),
)
def test_the_value_is_within(name: str, rows: int, deviation: int, *, gaussian: bool) -> None:
    formula, exact = _formula(name), _exact(rows, deviation)
    true = moment(formula, exact)
    assert true is not None
    held = [low <= true <= high for _, low, high in _errors(formula, exact, gaussian=gaussian)]
    assert not held or sum(held) >= LEAST * len(held)


@pytest.mark.parametrize(
    ("name", "gaussian"),
    in_turn(
        (
            (f"{name}-{law}", (name, law == "gaussian"))
            for name in (*OF_ONE, *OF_TWO)
            for law in ("laplace", "gaussian")
        ),
        share=3,
    ),
)
def test_of_many_rows_it_is_no_wider_than_it_has_to_be(name: str, *, gaussian: bool) -> None:
    formula, exact = _formula(name), _exact(100_000, 25)
    found = _errors(formula, exact, gaussian=gaussian)
    assert len(found) == DRAWS
    wide = median(float(high - low) for _, low, high in found)
    # A deviation found of 200 draws is off by a quarter in one of 10^6 runs.
    assert wide < 1.25 * 2 * 2.12 * pstdev(float(value) for value, *_ in found)


def test_of_no_rows_it_may_be_any_value() -> None:
    noise = [DiscreteLaplace(Fraction(20))] * 6
    row = (1, 0, -30, 0, -30, 10)
    none, one, square = Fraction(0), Fraction(1), Fraction(RADIUS) ** 2
    assert error_interval(_formula("VAR_POP"), row, noise)[1:] == (none, square)
    assert error_interval(_formula("VAR_SAMP"), row, noise)[1:] == (none, 2 * square)
    assert error_interval(_formula("CORR"), row, noise)[1:] == (-one, one)
    assert error_interval(_formula("REGR_R2"), row, noise)[1:] == (none, one)
    assert error_interval(_formula("REGR_SLOPE"), row, noise)[1:] == (None, None)


def _formula(name: str) -> Moments:
    function = AggregateFunction[name]
    return Moments(function, 0, X) if name in OF_ONE else Moments(function, 0, X, Y, 5)


def _exact(rows: int, deviation: int) -> tuple[int, ...]:
    """The sums of correlated values, in steps from their centres."""
    random = np.random.default_rng(rows)
    z, own = random.normal(size=(2, rows)) * deviation
    x, y = (np.clip(np.rint(v), -RADIUS, RADIUS).astype(int) for v in (z, 0.6 * z + 0.5 * own))
    far = RADIUS**2
    sums = (x.sum(), (x**2 - far).sum(), y.sum(), (y**2 - far).sum(), (x * y).sum())
    return (rows, *map(int, sums))


def _errors(
    formula: Moments, exact: tuple[int, ...], *, gaussian: bool
) -> list[tuple[Fraction, Fraction, Fraction]]:
    """Values and ends of as many noisy sums; where any value may be, there are none."""
    noise = [_noise(move, len(formula.indices), gaussian=gaussian) for move in _MOVES]
    randomness = SeededRandomness(f"moments {formula.function} {exact}")
    columns = [
        mechanism.release_vector(np.full(DRAWS, value, dtype=np.int64), randomness)
        for mechanism, value in zip(noise, exact, strict=True)
    ]
    found: list[tuple[Fraction, Fraction, Fraction]] = []
    for row in zip(*(map(int, column) for column in columns), strict=True):
        value, (_, low, high) = moment(formula, row), error_interval(formula, row, noise)
        if value is not None and low is not None and high is not None:
            assert low <= value <= high
            found.append((value, low, high))
    return found


_MOVES = (1, RADIUS, RADIUS**2, RADIUS, RADIUS**2, RADIUS**2)


def _noise(move: int, parts: int, *, gaussian: bool) -> IndependentNoise:
    """Of ε = 1 for all together, about."""
    if gaussian:
        return DiscreteGaussian(Fraction(ceil((2 * move * sqrt(parts)) ** 2)))
    return DiscreteLaplace(Fraction(move * parts))
