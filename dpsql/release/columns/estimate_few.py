"""Sums and means of few groups: bit for bit what `evaluate` returns for each group.

Python's integers have no bounds, and their quotient is rounded correctly. A call of NumPy takes as
long as a dozen of them, and several times as long where an engine has had the processor's cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pyarrow as pa

from dpsql.plan.bounded_release.estimator import Mean
from dpsql.privacy.mechanisms.noise.uniform_bits_in_cell import Integers
from dpsql.release.columns.arrow import arrow_type
from dpsql.release.columns.integer_arrays import OUTSIDE_64_BITS, decimals
from dpsql.schema.sql_type import Decimal, Double, Integer, SqlType


def few_combined(terms: Sequence[tuple[int, int]], vectors: Sequence[Integers]) -> list[int]:
    """Σ factor · vectors[index] over the (index, factor) in `terms`."""
    sums = [0] * vectors[0].size
    for index, factor in terms:
        values = vectors[index].tolist()
        sums = [before + factor * value for before, value in zip(sums, values, strict=True)]
    return sums


def few_sums(
    sums: Sequence[int], minimum: int | None, factor: Fraction, kind: SqlType
) -> pa.Array | None:
    """`sums`, `minimum` at least, times `factor` as an array of `kind`, or of its ends.

    None if one doesn't fit 64 bits, or `kind` takes a fraction that has to be rounded to it.
    """
    raised = sums if minimum is None else [max(each, minimum) for each in sums]
    scaled = [factor.numerator * each for each in raised]
    if _largest(scaled) >= OUTSIDE_64_BITS:
        return None
    match kind:
        case Double(bits=64):
            return pa.array([each / factor.denominator for each in scaled], pa.float64())
        case Integer(bits=128) if factor.denominator == 1:
            return _decimals(scaled, kind)
        case Integer(bits=bits, signed=signed) if factor.denominator == 1:
            low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
            return pa.array([min(max(each, low), high) for each in scaled], arrow_type(kind))
        case Decimal(precision=precision) if factor.denominator == 1:
            max_digits = 10**precision - 1
            return _decimals([min(max(each, -max_digits), max_digits) for each in scaled], kind)
        case _:
            return None


def few_means(estimator: Mean, statistics: Sequence[Integers]) -> pa.Array | None:
    """The column of `estimator`; None if a sum doesn't fit 64 bits."""
    above, below = estimator.step.numerator, estimator.step.denominator
    rows = [max(count, 1) for count in statistics[estimator.count].tolist()]
    pairs = zip(rows, statistics[estimator.total].tolist(), strict=True)
    tops = [above * (count * estimator.center + total) for count, total in pairs]
    if _largest(tops) >= OUTSIDE_64_BITS:
        return None
    # Rounding keeps the order, so that bounds may be rounded first.
    low, high = float(estimator.low), float(estimator.high)
    means = (top / (below * count) for top, count in zip(tops, rows, strict=True))
    return pa.array([min(max(mean, low), high) for mean in means], pa.float64())


def _largest(values: Sequence[int]) -> int:
    return max(map(abs, values), default=0)


def _decimals(values: Sequence[int], kind: SqlType) -> pa.Array:
    return decimals(np.array(values, dtype=np.int64), arrow_type(kind))
