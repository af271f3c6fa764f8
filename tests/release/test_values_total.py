"""Every noisy integer has a value and an error: formulas raise of none, however far it moved."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from dpsql.plan.aggregate import PAIRED, SPREADS, AggregateFunction
from dpsql.plan.bounded_release.estimator import (
    Estimator,
    LinearEstimator,
    Mean,
    MomentIndices,
    Moments,
    Variance,
)
from dpsql.plan.bounded_release.statistic import Discretized
from dpsql.plan.expression import Column
from dpsql.privacy.mechanisms.noise.laplace import DiscreteLaplace
from dpsql.release.columns.arrow import arrow_array
from dpsql.release.columns.confidence_interval import error_interval
from dpsql.release.columns.estimate import evaluate
from dpsql.release.columns.estimate_vectorized import whole_column
from dpsql.schema.sql_type import HUGEINT, Decimal, Double, SqlType

FAR = 2**120
STEPS = [Fraction(1, 2**90), Fraction(1, 10**38), Fraction(1), Fraction(10**12), Fraction(2**425)]
NOISE = [DiscreteLaplace(Fraction(2**40)), DiscreteLaplace(Fraction(1, 50))]
X = Column(1, "x", Double())


def axis(total: int, radius: int, step: Fraction) -> MomentIndices:
    return MomentIndices(total, total + 1, -radius, radius, step)


def moments(function: AggregateFunction, step: Fraction, other: Fraction) -> Moments:
    if function in PAIRED:
        return Moments(function, 0, axis(1, 2**25, step), axis(3, 1, other), 5)
    return Moments(function, 0, axis(1, 2**25, step))


FORMULAS: list[tuple[Estimator, SqlType]] = [
    *((moments(f, a, b), Double()) for f in {*SPREADS, *PAIRED} for a in STEPS for b in STEPS[::4]),
    *(
        (Variance(f, 0, rows, Discretized(X, step, -(2**25), 2**25, 0)), Double())
        for f in SPREADS
        for step in STEPS
        for rows in (2, 10**9)
    ),
    *(
        (Mean(0, 1, 2**51, step, -(2**52) * step, 2**52 * step), Double())
        for step in (*STEPS, Fraction(2**848))
    ),
    *(
        (LinearEstimator(((0, 1), (1, 2**51)), step, kind), kind)
        for step in (*STEPS, Fraction(2**848))
        for kind in (Double(), Double(32), HUGEINT, Decimal(38, 38))
    ),
]


@pytest.mark.parametrize("noise", NOISE, ids=lambda noise: f"scale {float(noise.scale):g}")
def test_a_value_and_its_error_are_numbers_of_their_type(noise: DiscreteLaplace) -> None:
    ends = (-FAR, -1, 0, 1, FAR)
    rows = [*product(ends, ends[::2], ends[::2], ends[::4], ends[::4], ends[::4])]
    for formula, kind in FORMULAS:
        some = rows[::17]
        found = arrow_array((evaluate(formula, row, ()) for row in some), kind)
        assert len(found) == len(some)
        errors = [error_interval(formula, row, [noise] * 6) for row in some]
        for part in zip(*errors, strict=True):
            told = arrow_array(part, Double()).drop_null().to_numpy()
            assert np.isfinite(told).all()


@pytest.mark.parametrize(("formula", "kind"), FORMULAS[-len(STEPS) * 6 :])
def test_a_column_of_no_groups_is_empty(formula: Estimator, kind: SqlType) -> None:
    nothing = np.zeros(0, dtype=np.int64)
    found = whole_column(formula, [nothing, nothing], kind)
    assert found is None or not len(found)
