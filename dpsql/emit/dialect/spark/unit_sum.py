"""Sums of one unit's rows in BIGINT, which take a fifth less of a statement than those of decimals.

Of more rows than BIGINT surely holds they have no value, as if none of the rows had one. That
depends on the number of rows, and not on the sum: of terms of both signs, one order of rows
overflows and another doesn't, and where other units' rows are decides which tasks there are.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from sqlglot import exp

from dpsql.emit.dialect.nodes import integer
from dpsql.emit.dialect.spark import guard
from dpsql.schema.sql_type import Decimal

_LARGEST: Final = 2**63 - 1

_MANY_ROWS: Final = 2**32
"""So many rows of one unit in one group always have values."""

_FAST_DIGITS: Final = 15
"""A decimal of so many digits, times the power of ten that makes it whole, is one of 64 bits."""

_BIGINT_DIGITS: Final = 19
"""A decimal of so many digits holds each BIGINT."""


def unit_sum(term: exp.Expr, kind: Decimal | None, magnitude: int) -> exp.Expr | None:
    """The sum of integers, or of decimals of `kind`; None where only one of decimals has room.

    Each term is of `magnitude` last digits at most.
    """
    many = _too_many(kind, magnitude)
    if many is None:
        return None
    last_digits, digit = exp.Paren(this=term), None
    if kind is not None and kind.scale:
        scale = kind.scale
        name = guard.decimal_name(max(len(str(magnitude)), scale), scale)
        power = guard.cast(integer(10**scale), guard.decimal_name(scale + 1, 0))
        exactly = guard.try_cast(last_digits, name)
        last_digits = exp.Paren(this=exp.Mul(this=exactly, expression=power))
        digit = guard.number(Fraction(1, 10**scale), Decimal(scale + 1, scale))
    total = _unless_too_many(guard.call("TRY_SUM", guard.try_cast(last_digits, "BIGINT")), many)
    if digit is None:
        return total
    whole = guard.cast(total, guard.decimal_name(_BIGINT_DIGITS, 0))
    return exp.Mul(this=whole, expression=digit)


def unit_value_count(values: exp.Expr, kind: Decimal | None, magnitude: int) -> exp.Expr:
    """How many `values` such a sum is of; NULL where it is."""
    count = guard.call("COUNT", values)
    many = _too_many(kind, magnitude)
    return count if many is None else _unless_too_many(count, many)


def _too_many(kind: Decimal | None, magnitude: int) -> int | None:
    """More rows could overflow BIGINT; None where so few could that sums are of decimals."""
    rows = _LARGEST // max(magnitude, 1)
    digits = len(str(magnitude)) + (0 if kind is None else kind.scale)
    return rows if rows >= _MANY_ROWS and digits <= _FAST_DIGITS else None


def _unless_too_many(total: exp.Expr, many: int) -> exp.Expr:
    few = exp.LTE(this=guard.call("COUNT", exp.Star()), expression=integer(many))
    return exp.case().when(few, total, copy=False)
