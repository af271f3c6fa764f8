"""Discretization: an argument as clamped integer steps, with their size, bounds and centre."""

from __future__ import annotations

import math
from fractions import Fraction

from msgspec import Struct

from dpsql.analysis.domains.expression_domain import Environment, domain
from dpsql.errors import Refused, Span
from dpsql.plan.bounded_release.statistic import Discretized
from dpsql.plan.expression import Expression
from dpsql.plan.expression_text import describe
from dpsql.plan.traversal import columns
from dpsql.schema.sql_type import Date, Decimal, Double, Integer, Timestamp

MAX_MAGNITUDE = 2**52
"""Terms of rows stay below this, so that sums of 2^50 rows scaled by 2^20 fit 128 bits."""

MAX_SQUARED = 2**26
"""Values whose squares and products are summed stay below this."""

_MAX_DOUBLE = 2**1023
"""Values up to here, rounded to whole steps, aren't infinite."""

_MAX_SUMMED = 2**900
"""Sums of 2^50 doubles up to here, with noise a million times as large, aren't infinite."""

_MAX_SQUARED_DOUBLE = 2**450
"""Sums of squares of 2^50 doubles up to here aren't infinite."""

_DOUBLE_STEPS = 2**30
"""Half the range of a DOUBLE has about so many steps: rounding is far below any noise."""

_SQUARED_DOUBLE_STEPS = 2**24
"""Half the range of a DOUBLE whose squares are summed has about so many steps."""


class Grid(Struct, frozen=True):
    """The integers from `low` to `high`, in steps of `step`."""

    low: int
    high: int
    step: Fraction

    @property
    def middle(self) -> int:
        """The centre at which the largest distance to a value is smallest."""
        return (self.low + self.high) // 2

    def centered(self, argument: Expression, center: int) -> Discretized:
        """`argument` within this range, less `center`."""
        # A constant changes nothing, but noise needs something to hide: one step.
        high = self.high if (self.low, self.high) != (center, center) else self.high + 1
        return Discretized(argument, self.step, self.low, high, center)


def grid_of(
    argument: Expression,
    domains: Environment,
    at: Span | None,
    *,
    squared: bool,
    ordered: bool = False,
    cap: Fraction | None = None,
) -> Grid:
    """The grid of the values of `argument`; Refused where it has no bounds, or can't be summed.

    A `squared` grid, for sums of squares and products, is coarser where it has to be. An `ordered`
    one is for values that are only compared, so dates and timestamps have one too. A `cap` on sums
    of the values bounds them where nothing else does.
    """
    ends = ends_of(argument, domains, cap)
    if ends is None:
        raise missing_bounds_error(argument, domains, at)
    low, high = ends
    limit = _MAX_DOUBLE if ordered else _MAX_SQUARED_DOUBLE if squared else _MAX_SUMMED
    if isinstance(argument.type, Double) and max(abs(low), abs(high)) > limit:
        raise Refused(
            f"within the bounds of {describe(argument)} its sums may pass what DOUBLE holds",
            at=at,
            hint=_narrowed(argument),
            note="aggregate_sum",
        )
    if ordered and isinstance(argument.type, Date | Timestamp):
        return Grid(math.floor(low), math.ceil(high), Fraction(1))
    step = _step(argument, low, high, at, squared=squared, cap=cap)
    return Grid(math.floor(low / step), math.ceil(high / step), step)


def ends_of(
    argument: Expression, domains: Environment, cap: Fraction | None
) -> tuple[Fraction, Fraction] | None:
    """The bounds of `argument`; where it has none, or one alone, what a `cap` leaves of it."""
    bounds = domain(argument, domains).bounds
    ends = None if bounds is None else bounds.ends
    if ends is not None or cap is None:
        return ends
    low, high = (None, None) if bounds is None else (bounds.low, bounds.high)
    return (
        -cap if low is None else max(-cap, min(cap, low)),
        cap if high is None else max(-cap, min(cap, high)),
    )


def missing_bounds_error(argument: Expression, domains: Environment, at: Span | None) -> Refused:
    """The refusal of a sum over an argument without bounds."""
    loose = sorted(
        column.name
        for column in columns(argument)
        if (bounds := domain(column, domains).bounds) is None or bounds.ends is None
    )
    text = describe(argument)
    where = f"column {loose[0]} has none" if loose else "none follow from its columns"
    return Refused(
        f"{text} needs bounds, and {where}",
        at=at,
        hint=f"declare bounds in the schema, or {_narrowed(argument)}",
        note="aggregate_sum",
    )


def _narrowed(argument: Expression) -> str:
    text = describe(argument)
    return (
        f"write CASE WHEN {text} BETWEEN 0 AND 1000 THEN {text} END with the limits that you mean"
    )


def _step(
    argument: Expression,
    low: Fraction,
    high: Fraction,
    at: Span | None,
    *,
    squared: bool,
    cap: Fraction | None,
) -> Fraction:
    """The size of one step: exact for integers and decimals that fit, else a power of two.

    Steps of what sums to a `cap` at most are as fine as it asks for.
    """
    magnitude, radius = max(abs(low), abs(high)), (high - low) / 2
    finest = radius if cap is None or squared else min(radius, cap)
    match argument.type:
        case Integer():
            step, base = Fraction(1), 10
        case Decimal(scale=scale):
            step, base = Fraction(1, 10**scale), 10
        case Double():
            # A power of two: multiplying by it is exact.
            wish = finest / (_SQUARED_DOUBLE_STEPS if squared else _DOUBLE_STEPS)
            step, base = power_of_two(max(wish, magnitude / 2**50, Fraction(1, 2**90))), 2
        case other:
            raise Refused(f"values of type {other} can't be summed", at=at, note="aggregate_sum")
    while magnitude / step >= MAX_MAGNITUDE or (squared and radius / step >= MAX_SQUARED - 1):
        step *= base
    return step


def power_of_two(number: Fraction) -> Fraction:
    """The least power of two that is at least `number`."""
    exponent = number.numerator.bit_length() - number.denominator.bit_length()
    power = Fraction(2) ** exponent
    while power < number:
        power *= 2
    return power
