"""Decimals without their point: as many of their last digit, exactly.

A cast to an integer divides, and rounds: so a decimal is multiplied by a power of ten first. In 64
bits that takes a tenth of what it takes in 128, and a cast that doesn't fit takes ten times as long
as one that does.
"""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from dpsql.emit.call import attempt, try_cast
from dpsql.emit.expression import emit_literal
from dpsql.schema.type import Decimal, SqlType

_NARROW: Final = 18
"""Digits of a decimal in 64 bits."""

_WIDE: Final = 38


def in_64_bits(column: exp.Expr, scale: int, most: int, whole: SqlType) -> exp.Expr | None:
    """A decimal of `scale` times 10^scale, as `whole`; NULL where it has too many digits.

    None if up to `most` there wouldn't be room. Powers of ten are as large as leaves it: a product
    has all 18 digits.
    """
    power = min(scale, _NARROW - 1 - len(str(most)))
    digits = _NARROW - 1 - power
    if power < 1 or digits < scale:
        return None
    return _descaled(try_cast(column.copy(), Decimal(digits, scale)), scale, power, digits, whole)


def in_128_bits(column: exp.Expr, scale: int, whole: SqlType) -> exp.Expr:
    """The same up to 10^36; what is below 2^52 adds up to no more over 2^63 rows."""
    return _descaled(column.copy(), scale, 2, _WIDE, whole)


def _descaled(column: exp.Expr, scale: int, power: int, digits: int, whole: SqlType) -> exp.Expr:
    """`column` multiplied by 10^power, and less of its scale, as often as it takes.

    Each product loses as many digits as it got, so that nothing is rounded.
    """
    while scale:
        power = min(power, scale)
        scale -= power
        factor = emit_literal(10**power, Decimal(power + 1, 0))
        product = attempt(exp.Mul(this=column, expression=factor))
        column = try_cast(product, Decimal(digits, scale) if scale else whole)
    return column
