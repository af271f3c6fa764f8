"""How far noise moves the cells of a chart: by the law of the noise alone, before and after."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import assert_never

from dpsql.errors import Refused
from dpsql.plan.bounded_release.bounded_release import BoundedRelease, KeyDomain
from dpsql.plan.bounded_release.estimator import (
    CellCount,
    ChosenValue,
    DividedSum,
    Estimator,
    ExpertChoice,
    LinearEstimator,
    Mean,
    Moments,
    NamedCondition,
    OfSample,
    QuantileValue,
    Variance,
)
from dpsql.plan.chart import Chart
from dpsql.plan.expression import Column
from dpsql.privacy.mechanisms.residual_gaussian import Axes, MarginalNoise

HALF_WIDTHS = 1.959964
"""So many standard deviations are a 95 % half-width: noise is a sum of many draws."""


def linear(estimator: Estimator) -> LinearEstimator:
    """`estimator`, if it is a sum of statistics of its own group; Refused if it is another."""
    match estimator:
        case LinearEstimator(minimum=None, row_variance=None, cross_group=None):
            return estimator
        case (
            LinearEstimator()
            | DividedSum()
            | Mean()
            | Moments()
            | Variance()
            | QuantileValue()
            | ChosenValue()
            | CellCount()
            | ExpertChoice()
            | NamedCondition()
            | OfSample()
        ):
            raise Refused(
                "a dashboard shows counts and sums: other values of charts don't add up",
                hint="a mean is sum(x) / count(x) of what it keeps",
                note="dashboard",
            )
        case missing:
            assert_never(missing)


def worths(formula: LinearEstimator) -> tuple[tuple[Fraction, int], ...]:
    """What each statistic counts for in a value, with its index."""
    return tuple((formula.step * factor, index) for index, factor in formula.summands)


def axes_of(bounded: BoundedRelease, chart: Chart) -> Axes:
    """The domains of the keys that `chart` groups by; those of keys that share one are one axis."""
    wanted = _key_indices(bounded, chart)
    domains = bounded.contributions.domains
    return tuple(axis for axis, domain in enumerate(domains) if wanted & {*domain.keys})


def chart_variances(
    bounded: BoundedRelease, noise: MarginalNoise, chart: Chart, value: Column
) -> tuple[Fraction, Fraction] | None:
    """The least and the largest variance of the noise of `value` in the cells of `chart`.

    They differ where keys share a domain: of years by months some may have more months than others.
    None where the chart isn't measured.
    """
    (output,) = [o for o in bounded.outputs if o.column == value]
    formula = linear(output.estimator)
    variances: list[Fraction] = []
    for box in _boxes(bounded, chart):
        variance = noise.variance(worths(formula), box)
        if variance is None:
            return None
        variances.append(variance)
    return min(variances), max(variances)


def half_width(variance: Fraction) -> float:
    """The 95 % half-width of noise of this variance."""
    return HALF_WIDTHS * math.sqrt(variance)


def _boxes(bounded: BoundedRelease, chart: Chart) -> Iterator[tuple[int, ...]]:
    """How many values along each axis a cell of `chart` has: all kinds of cells that there are."""
    wanted = _key_indices(bounded, chart)
    yield from product(*(_merged(d, wanted) for d in bounded.contributions.domains))


def _merged(domain: KeyDomain, wanted: set[int]) -> Sequence[int]:
    """How many cells of `domain` have the same values of the `wanted` keys."""
    positions = [position for position, key in enumerate(domain.keys) if key in wanted]
    if not positions:
        return (len(domain.cells),)
    if len(positions) == len(domain.keys):
        return (1,)
    return sorted({*Counter(tuple(cell[p] for p in positions) for cell in domain.cells).values()})


def _key_indices(bounded: BoundedRelease, chart: Chart) -> set[int]:
    columns = [key.column for key in bounded.contributions.keys]
    return {columns.index(key) for key in chart.keys}
