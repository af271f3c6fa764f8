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


def in_64_bits(column: exp.Expr, scale: int, largest: int, whole: SqlType) -> exp.Expr | None:
    """A decimal of `scale` times 10^scale, as `whole`; NULL where it has too many digits.

    None if up to `largest` there wouldn't be room. Powers of ten are as large as leaves it: a
    product has all 18 digits.
    """
    power = min(scale, _NARROW - 1 - len(str(largest)))
    digits = _NARROW - 1 - power
    if power < 1 or digits < scale:
        return None
    while scale:
        # Below 10^digits, times 10^power: no more than 17 digits, so that no product fails.
        column = try_cast(column.copy(), Decimal(digits, scale))
        power = min(power, scale)
        scale -= power
        column = exp.Mul(this=column, expression=_power_of_ten(power))
    return try_cast(column, whole)


def in_128_bits(column: exp.Expr, scale: int, whole: SqlType) -> exp.Expr:
    """The same up to 10^36; what is below 2^52 adds up to no more over 2^63 rows."""
    column = column.copy()
    while scale:
        power = min(2, scale)
        scale -= power
        product = try_(exp.Mul(this=column, expression=_power_of_ten(power)))
        column = try_cast(product, Decimal(_WIDE, scale) if scale else whole)
    return column


def _power_of_ten(power: int) -> exp.Expr:
    """With a point, it is a decimal of as many digits; an integer would be one of ten, or more."""
    return exp.Literal.number(f"{10**power}.")
