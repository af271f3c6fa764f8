"""Decimals without their point: as many of their last digit, exactly.

A cast to an integer divides, and rounds: so a decimal is multiplied by a power of ten first, and
loses as many digits of its scale as it got, until none is left. In 64 bits that takes a tenth of
what it takes in 128, and a cast that doesn't fit takes ten times as long as one that does.
"""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from dpsql.emit.dialect.duckdb.function_call import try_, try_cast
from dpsql.schema.sql_type import Decimal, SqlType

_NARROW: Final = 18
"""Digits of a decimal in 64 bits."""

_WIDE: Final = 38
"""Digits of a decimal in 128 bits."""


def in_64_bits(column: exp.Expr, scale: int, largest: int, whole: SqlType) -> exp.Expr | None:
    """A decimal of `scale` times 10^scale, as `whole`; NULL where it has too many digits.

    None if up to `largest` there wouldn't be room.
    """
    return _in_digits(column, scale, largest, whole, _NARROW)


def in_128_bits(column: exp.Expr, scale: int, largest: int, whole: SqlType) -> exp.Expr:
    """The same where there is room up to `largest`, or up to 10^36 if that takes a TRY."""
    column = column.copy()
    known = _in_digits(column, scale, largest, whole, _WIDE)
    if known is not None:
        return known
    while scale:
        power = min(2, scale)
        scale -= power
        product = try_(exp.Mul(this=column, expression=_power_of_ten(power)))
        column = try_cast(product, Decimal(_WIDE, scale) if scale else whole)
    return column


def _in_digits(
    column: exp.Expr, scale: int, largest: int, whole: SqlType, room: int
) -> exp.Expr | None:
    """`column` in decimals of `room` digits; None if up to `largest` they are too few.

    Powers of ten are as large as leaves it: a product has all digits.
    """
    power = min(scale, room - 1 - len(str(largest)))
    digits = room - 1 - power
    if power < 1 or digits < scale:
        return None
    while scale:
        # Below 10^digits, times 10^power: fewer than `room` digits, so that no product fails.
        column = try_cast(column.copy(), Decimal(digits, scale))
        power = min(power, scale)
        scale -= power
        column = exp.Mul(this=column, expression=_power_of_ten(power))
    return try_cast(column, whole)


def _power_of_ten(power: int) -> exp.Expr:
    """With a point, it is a decimal of as many digits; an integer would be one of ten, or more."""
    return exp.Literal.number(f"{10**power}.")
