"""Estimators: how a released column follows from noisy statistics and choices, by their indices."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import assert_never

from msgspec import Struct

from dpsql.plan.aggregate import AggregateFunction, OutputKind
from dpsql.plan.bounded_release.key_factors import KeyFactors
from dpsql.plan.bounded_release.statistic import Discretized
from dpsql.plan.expression import Column
from dpsql.privacy.domain import Value
from dpsql.schema.sql_type import SqlType
from dpsql.structs import replace


class LinearEstimator(Struct, frozen=True):
    """`step * sum of coefficient * statistic + constant`, as `type`, and at least `minimum`.

    `summands` are pairs of a statistic's index and its coefficient. `cross_group` are summands from
    other groups than the value's own.
    """

    summands: tuple[tuple[int, int], ...]
    step: Fraction
    type: SqlType
    minimum: int | None = None
    constant: Fraction = Fraction(0)
    row_variance: RowVariance | None = None
    cross_group: CrossGroupSum | None = None


class CrossGroupSum(Struct, frozen=True):
    """Coefficients of statistics summed over the groups that differ in the key at `key` alone.

    There are `groups` such groups for each group. `summands` are pairs of a statistic's index and
    its coefficient.
    """

    key: int
    groups: int
    summands: tuple[tuple[int, int], ...]


class RowVariance(Struct, frozen=True):
    """The variance that `rows` rows add to a value beside noise: of answers, or of a sample.

    A row that is truly among the counted ones adds `inside`, another one `outside`; they are equal
    where numbers other than 1 are summed.
    """

    inside: Fraction
    outside: Fraction
    rows: LinearEstimator


class DividedSum(Struct, frozen=True):
    """`estimator` divided by the factor of the group's key, by which its values were multiplied.

    It reads `factors` of its own group alone, and has neither a minimum nor rows of variance.
    """

    estimator: LinearEstimator
    factors: KeyFactors

    def of_factor(self, factor: int) -> LinearEstimator:
        """The estimator of groups whose keys have this factor."""
        return replace(self.estimator, step=self.estimator.step / factor)

    def of_each(self, keys: Iterable[object]) -> list[LinearEstimator]:
        """The estimators of groups whose keys, at the factors' index, are these."""
        factors = self.factors.of_each(keys)
        own = {factor: self.of_factor(factor) for factor in set(factors)}
        return [own[factor] for factor in factors]

    @property
    def farthest(self) -> LinearEstimator:
        """The estimator of the groups that noise moves farthest."""
        return self.of_factor(self.factors.smallest)


class Mean(Struct, frozen=True):
    """`step * (center + total / max(count, 1))`, clamped to [low, high].

    `total` and `count` are indices of statistics.
    """

    total: int
    count: int
    center: int
    step: Fraction
    low: Fraction
    high: Fraction


class MomentIndices(Struct, frozen=True):
    """The indices of the statistics of a column's sum and sum of squares.

    `square` is None where nothing needs it. Values are `step * (center + integer)`, with integers
    of at most `radius` from 0.
    """

    total: int
    square: int | None
    center: int
    radius: int
    step: Fraction


class Moments(Struct, frozen=True):
    """A function of the first two moments of `x`, or of `x` and `y` and their `product`.

    `count` and `product` are indices of statistics.
    """

    function: AggregateFunction
    count: int
    x: MomentIndices
    y: MomentIndices | None = None
    product: int | None = None

    @property
    def indices(self) -> tuple[int, ...]:
        """The indices of all statistics that the function is computed of."""
        axes = [self.x] if self.y is None else [self.x, self.y]
        statistics = [self.count, self.product, *(p for a in axes for p in (a.total, a.square))]
        return tuple(index for index in statistics if index is not None)


class Variance(Struct, frozen=True):
    """The variance, or its root, of `rows` rows, by the squared differences of all pairs of them.

    `index` is that of the statistic of these differences, in squared steps of `value`.
    """

    function: AggregateFunction
    index: int
    rows: int
    value: Discretized

    @property
    def scale(self) -> Fraction:
        """The variance that one of the statistic's integers stands for."""
        of_sample = self.function in (AggregateFunction.VAR_SAMP, AggregateFunction.STDDEV_SAMP)
        return self.value.step**2 / (self.rows * (self.rows - of_sample))

    @property
    def is_root(self) -> bool:
        """The value is a standard deviation."""
        return self.function in (AggregateFunction.STDDEV_POP, AggregateFunction.STDDEV_SAMP)


class QuantileValue(Struct, frozen=True):
    """`low + width * cell`, as `type`: the middle of the cell that is the choice at `index`.

    The last cell's middle may lie beyond all values, of which `high` is the highest. `count` is the
    index of the statistic of the group's rows, None if these aren't counted.
    """

    index: int
    low: Fraction
    width: Fraction
    high: Fraction
    type: SqlType
    count: int | None = None


class ChosenValue(Struct, frozen=True):
    """The one of `values` that is the choice at `index`; `count` as in `QuantileValue`.

    Where there is no count, None is a value as any other: it is NULL in a public row.
    """

    index: int
    values: tuple[Value | None, ...]
    count: int | None = None


class CellCount(Struct, frozen=True):
    """The noisy count of a chosen cell, which is the choice at `index`; at least `minimum`."""

    index: int
    minimum: int | None = None


class ExpertChoice(Struct, frozen=True):
    """The index of the expert that is chosen in a group, by its losses in the groups before it.

    `losses` has the index of the statistic of each expert's losses, whose steps are of one size.
    These sums are never released, with or without noise.
    """

    losses: tuple[int, ...]


class AlertCondition(Struct, frozen=True):
    """`sign` times the statistic at `index` is `threshold` or more."""

    index: int
    sign: int
    threshold: int


class NamedCondition(Struct, frozen=True):
    """The index of the condition that is named in a group, the first `firings` of all groups alone.

    Groups stand in the order of their keys, and in each the `conditions` as they are. Their sums
    are never released, with or without noise.
    """

    conditions: tuple[AlertCondition, ...]
    firings: int


class OfSample(Struct, frozen=True):
    """What `estimator` says of the drawn units, as what holds of all: scaled, a ratio, or a place.

    The part `missing` of the units isn't drawn; a unit has at most `unit_rows` rows in a group.
    """

    estimator: LinearEstimator | Mean | Moments | QuantileValue | ChosenValue
    missing: Fraction
    unit_rows: int


OwnEstimator = (
    LinearEstimator
    | DividedSum
    | Mean
    | Moments
    | Variance
    | QuantileValue
    | ChosenValue
    | CellCount
    | ExpertChoice
    | NamedCondition
)
Estimator = OwnEstimator | OfSample


class EstimatedColumn(Struct, frozen=True):
    """A released column, its estimator, and the part of the estimate that the column shows."""

    column: Column
    estimator: Estimator
    output_kind: OutputKind = OutputKind.VALUE


def of_drawn(estimator: Estimator) -> OwnEstimator:
    """What is computed of the units that are there, whether all units are or a sample."""
    return estimator.estimator if isinstance(estimator, OfSample) else estimator


def statistic_indices(estimator: Estimator) -> tuple[int, ...]:
    """The indices of the statistics that `estimator` reads; none for choices."""
    match estimator:
        case LinearEstimator(summands=terms, row_variance=response, cross_group=others):
            # Of other groups no further statistics are read.
            rows = () if response is None else response.rows.summands
            elsewhere = () if others is None else others.summands
            return tuple(index for index, _ in (*terms, *rows, *elsewhere))
        case DividedSum(estimator=multiplied):
            return statistic_indices(multiplied)
        case Mean(total=total, count=count):
            return total, count
        case Moments():
            return estimator.indices
        case Variance(index=index):
            return (index,)
        case QuantileValue() | ChosenValue() | CellCount() | ExpertChoice() | NamedCondition():
            return ()
        case OfSample(estimator=drawn):
            return statistic_indices(drawn)
        case missing:
            assert_never(missing)


def row_count_index(estimator: Estimator) -> int | None:
    """The index of the count of rows without which `estimator` has no value; None if none."""
    match estimator:
        case Mean() | Moments() | QuantileValue() | ChosenValue():
            return estimator.count
        case LinearEstimator() | DividedSum() | Variance() | CellCount():
            return None
        case ExpertChoice() | NamedCondition():
            return None
        case OfSample(estimator=drawn):
            return row_count_index(drawn)
        case missing:
            assert_never(missing)
