"""How a released column follows from noisy statistics and choices, named by their places."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import assert_never

from dpsql.plan.aggregate import AggregateFunction, OutputKind
from dpsql.plan.bounded_release.statistic import Discretized
from dpsql.plan.expression import Column
from dpsql.privacy.domain import Value
from dpsql.schema.sql_type import SqlType


@dataclass(frozen=True, slots=True)
class LinearEstimator:
    """`step * sum of coefficient * statistic + constant`, exactly, as `type`; `minimum` if less.

    `cross_group` are summands from other groups than the value's own.
    """

    summands: tuple[tuple[int, int], ...]
    step: Fraction
    type: SqlType
    minimum: int | None = None
    constant: Fraction = Fraction(0)
    response_variance: ResponseVariance | None = None
    cross_group: CrossGroupSum | None = None


@dataclass(frozen=True, slots=True)
class CrossGroupSum:
    """Coefficients of statistics summed over the groups that differ in the key at `key` alone.

    There are `groups` of these, whichever group is asked.
    """

    key: int
    groups: int
    summands: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class ResponseVariance:
    """Of randomised answers, `rows` of them: how much variance each adds.

    `inside` if it is truly among those that are counted, `outside` if not; the same where what is
    summed are other numbers.
    """

    inside: Fraction
    outside: Fraction
    rows: LinearEstimator


@dataclass(frozen=True, slots=True)
class Mean:
    """`step * (centre + total / max(count, 1))`, kept within [low, high]."""

    total: int
    count: int
    center: int
    step: Fraction
    low: Fraction
    high: Fraction


@dataclass(frozen=True, slots=True)
class MomentIndices:
    """The places of a column's sum and of its squares', None where nothing needs them.

    Values are `step * (centre + integer)`, and the integers at most `radius` from 0.
    """

    total: int
    square: int | None
    center: int
    radius: int
    step: Fraction


@dataclass(frozen=True, slots=True)
class Moments:
    """A function of the first two moments of `x`, or of `x` and `y` and their `product`."""

    function: AggregateFunction
    count: int
    x: MomentIndices
    y: MomentIndices | None = None
    product: int | None = None

    @property
    def indices(self) -> tuple[int, ...]:
        """The statistics that it is made of."""
        axes = [self.x] if self.y is None else [self.x, self.y]
        found = [self.count, self.product, *(p for a in axes for p in (a.total, a.square))]
        return tuple(place for place in found if place is not None)


@dataclass(frozen=True, slots=True)
class Variance:
    """A variance, or its root, of `rows` rows by the squared differences of all pairs of them."""

    function: AggregateFunction
    index: int
    rows: int
    value: Discretized

    @property
    def scale(self) -> Fraction:
        """What one of the integer is worth in the variance."""
        of_sample = self.function in (AggregateFunction.VAR_SAMP, AggregateFunction.STDDEV_SAMP)
        return self.value.step**2 / (self.rows * (self.rows - of_sample))

    @property
    def is_root(self) -> bool:
        """It is a standard deviation."""
        return self.function in (AggregateFunction.STDDEV_POP, AggregateFunction.STDDEV_SAMP)


@dataclass(frozen=True, slots=True)
class QuantileValue:
    """`low + width * cell`, as `type`: the middle of the cell that was chosen `index`th.

    The last cell's may lie beyond all values, of which `high` is the highest. `count` is the place
    of the group's rows, where these are counted beside.
    """

    index: int
    low: Fraction
    width: Fraction
    high: Fraction
    type: SqlType
    count: int | None = None


@dataclass(frozen=True, slots=True)
class ChosenValue:
    """The one of `values` that was chosen `index`th; `count` as in `QuantileValue`."""

    index: int
    values: tuple[Value, ...]
    count: int | None = None


Estimator = LinearEstimator | Mean | Moments | Variance | QuantileValue | ChosenValue


@dataclass(frozen=True, slots=True)
class EstimatedColumn:
    """A released column, its formula, and which part of what it gives is shown."""

    column: Column
    estimator: Estimator
    output_kind: OutputKind = OutputKind.VALUE


def statistic_indices(estimator: Estimator) -> tuple[int, ...]:
    """The places of the statistics that `estimator` reads; none of what is chosen."""
    match estimator:
        case LinearEstimator(summands=terms, response_variance=said, cross_group=others):
            # Of other groups no further statistics are read.
            rows = () if said is None else said.rows.summands
            elsewhere = () if others is None else others.summands
            return tuple(place for place, _ in (*terms, *rows, *elsewhere))
        case Mean(total=total, count=count):
            return total, count
        case Moments():
            return estimator.indices
        case Variance(index=place):
            return (place,)
        case QuantileValue() | ChosenValue():
            return ()
        case missing:
            assert_never(missing)


def row_count_index(estimator: Estimator) -> int | None:
    """The place of the rows without which `estimator` has no value; None if none is counted."""
    match estimator:
        case Mean() | Moments() | QuantileValue() | ChosenValue():
            return estimator.count
        case LinearEstimator() | Variance():
            return None
        case missing:
            assert_never(missing)
