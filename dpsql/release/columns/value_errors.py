"""How far noise may have moved each mean, variance or slope of a released table, row by row.

A sum's error is the same in every group, unless these have caps of their own. That of a mean
depends on the group's noisy count: it is the farther end of the interval of `confidence_interval`,
computed of noisy integers alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dpsql.plan.aggregate import AggregateFunction, OutputKind
from dpsql.plan.bounded_release.bounded_release import BoundedRelease
from dpsql.plan.bounded_release.estimator import (
    ChosenValue,
    DividedSum,
    EstimatedColumn,
    Estimator,
    LinearEstimator,
    Mean,
    Moments,
    OfSample,
    QuantileValue,
    Variance,
    of_drawn,
    statistic_indices,
)
from dpsql.privacy.mechanisms.noise.uniform_bits_in_cell import Integers
from dpsql.release.columns.confidence_interval import (
    NoiseSpread,
    error_interval,
    half_width,
    linear_error,
)
from dpsql.release.columns.released_table import noisy_statistics

MAX_ROWS: Final = 5_000
"""Intervals of variances and slopes are computed one by one, for at most so many groups."""

_VARIANCES: Final = frozenset(
    {
        AggregateFunction.VAR_POP,
        AggregateFunction.VAR_SAMP,
        AggregateFunction.STDDEV_POP,
        AggregateFunction.STDDEV_SAMP,
    }
)
_CORRELATIONS: Final = frozenset({AggregateFunction.CORR, AggregateFunction.REGR_R2})

Floats = NDArray[np.float64]


def has_value_errors(output: EstimatedColumn) -> bool:
    """Whether the error of a column's values depends on their group's key or noisy integers."""
    estimator = of_drawn(output.estimator)
    is_root = isinstance(estimator, Variance) and estimator.is_root
    is_sum = isinstance(output.estimator, OfSample) and isinstance(estimator, LinearEstimator)
    return output.output_kind is OutputKind.VALUE and (
        is_root or is_sum or isinstance(estimator, Mean | Moments | DividedSum)
    )


def value_half_widths(
    bounded: BoundedRelease, index: int, table: pa.Table, spreads: Sequence[NoiseSpread]
) -> Floats:
    """The 95 % half-widths of the output at `index` of a released table, NaN where unknown.

    `spreads` is the noise of each statistic, as the table shows it.
    """
    output = bounded.outputs[index]
    values = _values(output, table)
    statistics = noisy_statistics(bounded, table)
    # An earlier version stored less.
    is_stored = set(statistic_indices(output.estimator)) <= statistics.keys()
    low = high = np.full(len(values), np.nan)
    match output.estimator:
        case Mean() as mean if is_stored:
            low, high = mean_ends(mean, statistics, spreads)
        case DividedSum() as divided:
            return _divided_widths(divided, bounded, table, spreads)
        case OfSample(estimator=QuantileValue() | ChosenValue()):
            pass
        case Moments() | Variance() | OfSample() if is_stored and len(values) <= MAX_ROWS:
            low, high = _ends(output.estimator, statistics, spreads, len(values))
        case _:
            pass
    widths: Floats = np.maximum(values - low, high - values)
    return widths


def clamped_values(output: EstimatedColumn, table: pa.Table) -> NDArray[np.bool_]:
    """Which values of a released column stand at an end of all that they can be.

    Noise put them there, or beyond.
    """
    return _clamped(of_drawn(output.estimator), _values(output, table))


def _values(output: EstimatedColumn, table: pa.Table) -> Floats:
    values = table.column(f"c{output.column.id}").to_pylist()
    return np.array([np.nan if value is None else float(value) for value in values], float)


def _divided_widths(
    divided: DividedSum, bounded: BoundedRelease, table: pa.Table, spreads: Sequence[NoiseSpread]
) -> Floats:
    """The half-widths of sums that are divided by factors of their groups' keys."""
    key = bounded.contributions.keys[divided.factors.key]
    keys = table.column(f"c{key.column.id}").to_pylist()
    factors = np.array(divided.factors.of_each(keys), dtype=np.float64)
    return np.asarray(float(linear_error(divided.estimator, spreads)[1]) / factors)


def mean_ends(
    mean: Mean, statistics: Mapping[int, Integers], spreads: Sequence[NoiseSpread]
) -> tuple[Floats, Floats]:
    """The ends of all groups' intervals, as `error_interval` computes them one by one."""
    total = statistics[mean.total].astype(np.float64)
    count = np.maximum(statistics[mean.count].astype(np.float64), 1)
    total_width, count_width = (
        float(max(half_width(spreads[index]), 1)) for index in (mean.total, mean.count)
    )
    square, product = count**2 - count_width**2, total * count
    inside = product**2 - square * (total**2 - total_width**2)
    is_known = (square > 0) & (inside >= 0)
    divisor, moved = np.where(is_known, square, 1), np.sqrt(np.where(is_known, inside, 0))
    low, high = float(mean.low), float(mean.high)
    ends = []
    for sign, otherwise in ((-1, low), (1, high)):
        end = float(mean.step) * (mean.center + (product + sign * moved) / divisor)
        ends.append(np.where(is_known, np.clip(end, low, high), otherwise))
    return ends[0], ends[1]


def _ends(
    estimator: Estimator,
    statistics: Mapping[int, Integers],
    spreads: Sequence[NoiseSpread],
    count: int,
) -> tuple[Floats, Floats]:
    zeros = [0] * count
    columns = [
        statistics[index].tolist() if index in statistics else zeros
        for index in range(len(spreads))
    ]
    intervals = (error_interval(estimator, row, spreads) for row in zip(*columns, strict=True))
    low, high = np.full(count, np.nan), np.full(count, np.nan)
    for row, (_, lower, upper) in enumerate(intervals):
        if lower is not None and upper is not None:
            low[row], high[row] = float(lower), float(upper)
    return low, high


def _clamped(estimator: Estimator, values: Floats) -> NDArray[np.bool_]:
    match estimator:
        case Mean(low=low, high=high):
            is_end: NDArray[np.bool_] = (values <= float(low)) | (values >= float(high))
            return is_end
        case Variance():
            return values <= 0
        case Moments(function=function) if function in _VARIANCES:
            return values <= 0
        case Moments(function=function) if function in _CORRELATIONS:
            return np.abs(values) >= 1
        case _:
            return np.zeros(len(values), dtype=np.bool_)
