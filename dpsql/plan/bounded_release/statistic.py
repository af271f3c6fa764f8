"""Statistics: what a release sums over each group, one clamped integer of each row.

avg(x), var_pop(x)   with x in [1, 50], in whole steps

RowCount             1
Sum(x)               x - 25, in [-24, 25]
Square(x)            (x - 25)^2 - 625, in [-625, 0]
"""

from __future__ import annotations

from fractions import Fraction
from typing import assert_never

from msgspec import Struct

from dpsql.plan.bounded_release.key_factors import FactoredValue
from dpsql.plan.bounded_release.unit_weight import UnitWeight
from dpsql.plan.expression import Column, Expression
from dpsql.privacy.unit_weight import RESOLUTION
from dpsql.schema.sql_type import Decimal


class NormBall(Struct, frozen=True):
    """A row's values of `columns` have, together, an L1 or L2 norm of at most `radius`.

    `order` is 1 or 2. NULLs count as 0.
    """

    columns: tuple[Column, ...]
    radius: Fraction
    order: int


class BallMember(Struct, frozen=True):
    """`column`, one of those that are scaled into `ball` together."""

    column: Column
    ball: NormBall


class Discretized(Struct, frozen=True):
    """`argument` in integer steps, clamped to [low, high], less `center`.

    A row where the argument is NULL or NaN has no value. `step` is the size of one step. Where a
    column is `scaled` into a ball, the argument's own expression does so, and rounds toward 0: the
    integers of one row's different columns have the ball's norm together. So it is with `factored`:
    the argument's own expression multiplies `FactoredValue.argument` by the factor of the key.
    """

    argument: Expression
    step: Fraction
    low: int
    high: int
    center: int
    scaled: BallMember | None = None
    factored: FactoredValue | None = None

    @property
    def radius(self) -> int:
        """The largest distance of a value from the centre."""
        return max(self.high - self.center, self.center - self.low)

    @property
    def worth(self) -> Fraction:
        """The amount that one step stands for; where it is factored, the most of any group."""
        return self.step if self.factored is None else self.step / self.factored.factors.smallest

    @property
    def decimal(self) -> Decimal | None:
        """The argument's type if it is a decimal whose last digit is one step."""
        kind = self.argument.type
        if not isinstance(kind, Decimal):
            return None
        # The parts of 1/10**scale, which has nothing to cancel.
        if (self.step.numerator, self.step.denominator) == (1, 10**kind.scale):
            return kind
        return None


class RowCount(Struct, frozen=True):
    """1 for each row: the term of COUNT(*)."""


class NonNullCount(Struct, frozen=True):
    """1 for each row whose `argument` isn't NULL or NaN, else 0: the term of COUNT(x)."""

    argument: Expression


class Sum(Struct, frozen=True):
    """`value`, 0 where there is none: the term of SUM."""

    value: Discretized


class CappedSum(Struct, frozen=True):
    """`value`, 0 where there is none; over one unit's rows in a group it sums to [-cap, cap].

    The term of SUM under a cap, in steps, which is of values without a centre: a unit with many
    rows near the centre would have a sum near 0, and no cap would bind. It is for units that may
    have several rows; the bounds of one row's value are its cap.
    """

    value: Discretized
    cap: int

    def __post_init__(self) -> None:
        if self.value.center != 0 or self.cap < 1:
            raise ValueError("a cap is one step at least, and of a sum of values as they are")


class Square(Struct, frozen=True):
    """The square of `value` less its largest possible square, so that few values are far from 0."""

    value: Discretized


class Product(Struct, frozen=True):
    """The product of two values, 0 where one of them is missing."""

    left: Discretized
    right: Discretized


class PairwiseDeviations(Struct, frozen=True):
    """The squared differences of all pairs of rows: n·Σy² - (Σy)² of clamped values y.

    It is no sum over rows, and bounded only where rows are replaced and none is left out. Where a
    table doesn't have the declared number of `rows`, the emitted integer is scaled to their bound.
    """

    value: Discretized
    rows: int


class BoundedMean(Struct, frozen=True):
    """The mean of all rows' values, of which there are `rows` at least, times `rows` + 1.

    It is no sum over rows. Where a table has fewer than the declared `rows`, its sum is divided by
    these.
    """

    value: Discretized
    rows: int

    @property
    def change(self) -> int:
        """The most that a row which is added or removed moves it by."""
        value = self.value
        of_few = -(-(self.rows + 1) * value.radius // self.rows)
        return max(value.high - value.low, of_few)


class UnitCount(Struct, frozen=True):
    """1 for each unit in the group, however many rows it has there."""


class UnitsOverLimit(Struct, frozen=True):
    """1 for each unit that has more rows in the group than it counts for."""


class DistinctValues(Struct, frozen=True):
    """1 for each distinct value of `argument` that any unit has; NULL is none.

    Each unit brings at most `limit` of them to a group; None: as many as its rows that count there.
    """

    argument: Expression
    limit: int | None


class DistinctSum(Struct, frozen=True):
    """`value` of each distinct value of its argument that any unit has: the term of SUM(DISTINCT).

    Each unit brings at most `limit` of them to a group, as for DistinctValues.
    """

    value: Discretized
    limit: int | None


Term = (
    RowCount
    | NonNullCount
    | Sum
    | CappedSum
    | Square
    | Product
    | PairwiseDeviations
    | BoundedMean
    | UnitCount
    | UnitWeight
    | UnitsOverLimit
    | DistinctValues
    | DistinctSum
)

MAX_ROWS = 2**36
"""The squared differences of so many rows fit 128 bits."""


class Statistic(Struct, frozen=True):
    """An integer for each group: the sum of `term` over the rows for which `filter` holds.

    A `filter` of None holds for all rows.
    """

    term: Term
    filter: Expression | None

    @property
    def interval(self) -> tuple[int, int]:
        """The interval that each row's term is clamped to.

        Of what is no sum over rows, it is what one row changes.
        """
        match self.term:
            case RowCount() | NonNullCount() | UnitCount() | UnitsOverLimit() | DistinctValues():
                return 0, 1
            case UnitWeight():
                return 0, RESOLUTION  # the norm of all its weights is that of so much in each
            case Sum(value=value) | CappedSum(value=value) | DistinctSum(value=value):
                return value.low - value.center, value.high - value.center
            case Square(value=value):
                return -(value.radius**2), 0
            case Product(left=left, right=right):
                bound = left.radius * right.radius
                return -bound, bound
            case PairwiseDeviations(value=value, rows=rows):
                return 0, (rows - 1) * (value.high - value.low) ** 2
            case BoundedMean() as mean:
                return -mean.change, mean.change
            case missing:
                assert_never(missing)

    @property
    def step(self) -> Fraction:
        """The amount that one integer stands for; of factored values, the most in any group."""
        match self.term:
            case RowCount() | NonNullCount() | UnitCount() | UnitsOverLimit() | DistinctValues():
                return Fraction(1)
            case UnitWeight():
                return Fraction(1, RESOLUTION)
            case Sum(value=value) | CappedSum(value=value) | DistinctSum(value=value):
                return value.worth
            case Square(value=value) | PairwiseDeviations(value=value):
                return value.step**2
            case Product(left=left, right=right):
                return left.step * right.step
            case BoundedMean(value=value, rows=rows):
                return value.step / (rows + 1)
            case missing:
                assert_never(missing)

    @property
    def is_row_sum(self) -> bool:
        """Rows are summed, so that half of a unit's rows count half; units and values aren't."""
        return (
            not isinstance(self.term, UnitCount | UnitWeight | UnitsOverLimit)
            and not self.is_over_distinct_values
        )

    @property
    def is_over_distinct_values(self) -> bool:
        """Distinct values are counted or summed, however many units have them."""
        return isinstance(self.term, DistinctValues | DistinctSum)

    @property
    def is_row_count(self) -> bool:
        """The statistic is the number of rows, whatever their values."""
        return isinstance(self.term, RowCount) and self.filter is None

    @property
    def needs_sum(self) -> bool:
        """The statistic isn't determined by the number of a unit's rows, or by there being any."""
        return self.is_row_sum and not self.is_row_count

    @property
    def magnitude(self) -> int:
        """The largest absolute change by one row."""
        low, high = self.interval
        return max(abs(low), abs(high))
