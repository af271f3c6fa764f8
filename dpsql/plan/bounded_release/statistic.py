"""What a release sums over each group: a term of each row, as a clamped integer.

avg(x), var_pop(x)   with x in [1, 50], in whole steps

Ones                 1
Amount(x)            x - 25, in [-24, 25]
Square(x)            (x - 25)^2 - 625, in [-625, 0]
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import assert_never

from dpsql.plan.expression import Expression
from dpsql.schema.sql_type import Decimal


@dataclass(frozen=True, slots=True)
class Measured:
    """`argument` in integer steps, clamped to [low, high], less `centre`.

    A row where it is NULL or NaN has no value. One integer is worth `step`.
    """

    argument: Expression
    step: Fraction
    low: int
    high: int
    centre: int

    @property
    def radius(self) -> int:
        """The farthest from the centre that a value may lie."""
        return max(self.high - self.centre, self.centre - self.low)

    @property
    def decimal(self) -> Decimal | None:
        """The argument's type if it is a decimal whose last digit is one step."""
        kind = self.argument.type
        if isinstance(kind, Decimal) and self.step == Fraction(1, 10**kind.scale):
            return kind
        return None


@dataclass(frozen=True, slots=True)
class Ones:
    """1 for each row: the term of COUNT(*)."""


@dataclass(frozen=True, slots=True)
class Present:
    """1 for each row whose `argument` isn't NULL or NaN, else 0: the term of COUNT(x)."""

    argument: Expression


@dataclass(frozen=True, slots=True)
class Amount:
    """`value`, 0 where there is none: the term of SUM."""

    value: Measured


@dataclass(frozen=True, slots=True)
class Square:
    """The square of `value` less the largest there may be, so that few values are far from 0."""

    value: Measured


@dataclass(frozen=True, slots=True)
class Product:
    """The product of two values, 0 where one of them is missing."""

    left: Measured
    right: Measured


@dataclass(frozen=True, slots=True)
class Deviations:
    """The squared differences of all pairs of rows: n·Σy² - (Σy)² of clamped values y.

    It is no sum over rows, and bounded only where rows are replaced and none is left out. Where
    there are other than `rows` rows, it is scaled to what its bound is of.
    """

    value: Measured
    rows: int


@dataclass(frozen=True, slots=True)
class Presence:
    """1 for each unit in the group, however many rows it has there."""


@dataclass(frozen=True, slots=True)
class Over:
    """1 for each unit that has more rows in the group than it counts for."""


@dataclass(frozen=True, slots=True)
class Distinct:
    """1 for each distinct value of `argument` that any unit has; NULL is none.

    Each unit brings at most `most` of them to a group; None: as many as it may have rows there.
    """

    argument: Expression
    most: int | None


@dataclass(frozen=True, slots=True)
class DistinctSum:
    """`value` of each distinct value of its argument that any unit has: the term of SUM(DISTINCT).

    Each unit brings at most `most` of them to a group, as of those that are counted.
    """

    value: Measured
    most: int | None


Term = (
    Ones
    | Present
    | Amount
    | Square
    | Product
    | Deviations
    | Presence
    | Over
    | Distinct
    | DistinctSum
)

MOST_ROWS = 2**36
"""So many rows' squared differences fit 128 bits."""


@dataclass(frozen=True, slots=True)
class Statistic:
    """An integer for each group: the sum of `term` over the rows for which `filter` holds."""

    term: Term
    filter: Expression | None

    @property
    def interval(self) -> tuple[int, int]:
        """What each row's term is clamped to, as emitted; of all pairs of rows, what one moves."""
        match self.term:
            case Ones() | Present() | Presence() | Over() | Distinct():
                return 0, 1
            case Amount(value=value) | DistinctSum(value=value):
                return value.low - value.centre, value.high - value.centre
            case Square(value=value):
                return -(value.radius**2), 0
            case Product(left=left, right=right):
                most = left.radius * right.radius
                return -most, most
            case Deviations(value=value, rows=rows):
                return 0, (rows - 1) * (value.high - value.low) ** 2
            case missing:
                assert_never(missing)

    @property
    def step(self) -> Fraction:
        """What one integer is worth."""
        match self.term:
            case Ones() | Present() | Presence() | Over() | Distinct():
                return Fraction(1)
            case Amount(value=value) | DistinctSum(value=value):
                return value.step
            case Square(value=value) | Deviations(value=value):
                return value.step**2
            case Product(left=left, right=right):
                return left.step * right.step
            case missing:
                assert_never(missing)

    @property
    def is_of_rows(self) -> bool:
        """Rows are summed, so that half of a unit's rows count half; units and values are not."""
        return not isinstance(self.term, Presence | Over) and not self.is_of_values

    @property
    def is_of_values(self) -> bool:
        """Distinct values are counted or summed, however many units have them."""
        return isinstance(self.term, Distinct | DistinctSum)

    @property
    def counts_every_row(self) -> bool:
        """It is the number of rows, whatever their values."""
        return isinstance(self.term, Ones) and self.filter is None

    @property
    def is_summed(self) -> bool:
        """It isn't told by there being rows, or by their number."""
        return self.is_of_rows and not self.counts_every_row

    @property
    def magnitude(self) -> int:
        """The most one row can add or take away."""
        low, high = self.interval
        return max(abs(low), abs(high))
