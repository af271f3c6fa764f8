"""The deviation of a cell of several charts, in the mean: planned as one, and asked one by one.

Each unit has one row; the charts cost ρ in all, and one by one each has as much of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import Final, NamedTuple

from dpsql.privacy.allocation.marginal_allocation import (
    MarginalWorkload,
    WeightedMarginal,
    optimal_variance,
    split_residuals,
)
from dpsql.privacy.distance import NeighborDistance
from dpsql.privacy.mechanisms.residual_gaussian import Axes, UnitMoves

SIX: Final = (2, 3, 2, 4, 3, 2)
ONE_AND_TWO_WAY: Final[list[Axes]] = [c for k in (1, 2) for c in combinations(range(6), k)]
FOUR: Final = (2, 4, 5, 12)
EIGHT_CHARTS: Final[list[Axes]] = [(0,), (1,), (2,), (3,), (0, 1), (0, 3), (1, 2), (2, 3)]


class PlannedError(NamedTuple):
    """Deviations of a cell: one by one, planned as one, and the least of any such plan."""

    apart: float
    planned: float
    least: float


def planned_error(shape: tuple[int, ...], charts: Sequence[Axes], rho: Fraction) -> PlannedError:
    """Of counts by the `charts`, keys of columns that have `shape` values."""
    moves = UnitMoves(1, 1, is_signed=False)
    workload = MarginalWorkload(tuple(WeightedMarginal(axes, 1) for axes in charts), moves)
    (noise,) = split_residuals(shape, [workload], NeighborDistance(), rho)
    sizes = [math.prod(shape[axis] for axis in axes) for axes in charts]
    boxes = ([1 if a in axes else n for a, n in enumerate(shape)] for axes in charts)
    variances = [float(noise.variance(box) or math.nan) for box in boxes]
    cells = sum(sizes)
    mean = sum(size * each for size, each in zip(sizes, variances, strict=True)) / cells
    least = float(optimal_variance(shape, workload, rho)) / cells
    return PlannedError(*map(math.sqrt, (len(charts) / (2 * float(rho)), mean, least)))
