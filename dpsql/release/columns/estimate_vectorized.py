"""Sums and means of all groups at once: bit for bit what `evaluate` returns for each group.

Everything is exact in int64 up to one last division of doubles that are integers, which IEEE rounds
correctly, as Python does a fraction's. Where numbers may pass these bounds no column is computed
here.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dpsql.plan.bounded_release.estimator import Estimator, LinearEstimator, Mean, OfSample
from dpsql.privacy.mechanisms.noise.uniform_bits_in_cell import FEW, Integers
from dpsql.release.columns.arrow import arrow_type
from dpsql.release.columns.estimate_few import few_combined, few_means, few_sums
from dpsql.release.columns.integer_arrays import (
    OUTSIDE_64_BITS,
    combined,
    decimals,
    largest,
    numbers,
)
from dpsql.schema.sql_type import Decimal, Double, Integer, SqlType

_EXACT = 2**53
"""Doubles represent every integer up to this one."""


def whole_column(
    estimator: Estimator, statistics: Sequence[Integers], kind: SqlType
) -> pa.Array | None:
    """The column that `estimator` computes from noisy statistics; None if it needs `evaluate`."""
    match estimator:
        case LinearEstimator(constant=constant, row_variance=response) if (
            constant or response is not None
        ):
            return None
        case LinearEstimator(summands=terms, step=step, minimum=minimum) if (
            minimum is None or step == 1
        ):
            factor = step * 10 ** _scale(kind)
            if _are_few(statistics):
                return few_sums(few_combined(terms, statistics), minimum, factor, kind)
            sums = combined(terms, statistics, max(1, abs(factor.numerator)))
            if sums is None:
                return None
            return _numbers(sums if minimum is None else np.maximum(sums, minimum), factor, kind)
        case Mean() if kind == Double():
            return (few_means if _are_few(statistics) else _mean)(estimator, statistics)
        case OfSample(estimator=drawn):
            return whole_column(drawn, statistics, kind)
        case _:
            return None


def _are_few(statistics: Sequence[Integers]) -> bool:
    return bool(statistics) and statistics[0].size <= FEW


def _scale(kind: SqlType) -> int:
    return kind.scale if isinstance(kind, Decimal) else 0


def _numbers(sums: NDArray[np.int64], factor: Fraction, kind: SqlType) -> pa.Array | None:
    """`sums` times `factor` as an array of `kind`; values beyond its range become its ends."""
    scaled = sums * np.int64(factor.numerator)
    match kind:
        case Double(bits=64) if largest(scaled) <= _EXACT and factor.denominator <= _EXACT:
            return numbers(scaled / np.float64(factor.denominator))
        case Integer(bits=128) if factor.denominator == 1:
            return decimals(scaled, arrow_type(kind))
        case Integer(bits=bits, signed=signed) if factor.denominator == 1:
            low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
            clipped = np.clip(scaled, low, min(high, OUTSIDE_64_BITS - 1))
            # Arrow's own name of NumPy's type needs pandas, in some versions.
            return numbers(clipped.astype(np.dtype(f"{'' if signed else 'u'}int{bits}")))
        case Decimal(precision=precision) if factor.denominator == 1:
            max_digits = min(10**precision, OUTSIDE_64_BITS) - 1
            return decimals(np.clip(scaled, -max_digits, max_digits), arrow_type(kind))
        case _:
            return None


def _mean(estimator: Mean, statistics: Sequence[Integers]) -> pa.Array | None:
    count = statistics[estimator.count]
    if count.dtype == object:
        return None
    rows = np.maximum(count, 1)
    terms = ((0, estimator.center), (1, 1))
    above, below = estimator.step.numerator, estimator.step.denominator
    sums = combined(terms, (rows, statistics[estimator.total]), above)
    if sums is None or below * max(largest(rows), 1) >= OUTSIDE_64_BITS:
        return None
    tops, bottoms = sums * np.int64(above), rows * np.int64(below)
    means = tops / bottoms
    # Such a numerator or denominator would be rounded before the quotient is.
    rounded = (np.abs(tops) > _EXACT) | (bottoms > _EXACT)
    for row in rounded.nonzero()[0]:
        means[row] = float(Fraction(int(tops[row]), int(bottoms[row])))
    # Rounding keeps the order, so that bounds may be rounded first.
    return numbers(np.clip(means, float(estimator.low), float(estimator.high)))
