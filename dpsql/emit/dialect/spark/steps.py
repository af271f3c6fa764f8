"""Values and sums of them as integers of steps, on Spark."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from sqlglot import exp

from dpsql.emit.dialect.clamp import clamp_to
from dpsql.emit.dialect.nodes import integer
from dpsql.emit.dialect.spark import guard
from dpsql.plan.bounded_release.statistic import Discretized
from dpsql.schema.sql_type import Date, Decimal, Double, Integer, Timestamp

_DIGITS: Final = 18
"""Digits after the point of decimals whose steps are exact here."""

_STEP_DIGITS: Final = 19
"""Digits of the steps of a clamped value, of 53 bits, and room."""


def steps(value: Discretized, column: exp.Expr) -> exp.Expr:
    """`column`, a name, as an integer of steps, a BIGINT; NULL where it is none."""
    step, kind = value.step, value.argument.type
    match kind:
        case Double(bits=64):
            return _double_steps(value, column)
        case Integer() if step == 1:
            return guard.try_cast(column, "BIGINT")
        case Date():
            return guard.cast(guard.call("UNIX_DATE", column), "BIGINT")
        case Timestamp():
            # By UTC, which the session's time zone is.
            return guard.call("UNIX_MICROS", guard.cast(column, "TIMESTAMP_LTZ"))
        case Decimal() if step < 1:
            return _decimal_steps(value, kind, column)
        case Integer() | Decimal() if step < 10**_DIGITS:
            whole = guard.call("ROUND", column, integer(0))
            return guard.try_cast(guard.quotient(whole, integer(int(step))), "BIGINT")
        case _:
            raise guard.refused(f"a sum of {kind}")


def _double_steps(value: Discretized, column: exp.Expr) -> exp.Expr:
    low, high = (guard.double(end * value.step) for end in (value.low, value.high))
    nan = exp.case().when(is_nan(column.copy()), exp.null(), copy=False)
    scaled = exp.Mul(this=clamp_to(nan, column, low, high), expression=guard.double(1 / value.step))
    # Half to even, as on DuckDB.
    return guard.try_cast(guard.call("RINT", exp.Paren(this=scaled)), "BIGINT")


def _decimal_steps(value: Discretized, kind: Decimal, column: exp.Expr) -> exp.Expr:
    """A decimal times a power of ten; clamped first, so that the product isn't too long."""
    scale = len(str(int(1 / value.step))) - 1
    if scale > _DIGITS:
        raise guard.refused(f"a sum of {kind}")
    if scale < kind.scale:
        kind = Decimal(guard.WIDE, scale)
        column = guard.try_cast(column, guard.type_name(kind))
        return guard.bind(column, lambda rounded: _scaled(value, kind, rounded))
    return _scaled(value, kind, column)


def _scaled(value: Discretized, kind: Decimal, column: exp.Expr) -> exp.Expr:
    low, high = (
        guard.number(_nearest(end * value.step, kind), kind) for end in (value.low, value.high)
    )
    clamped = clamp_to(exp.case(), column, low, high)
    narrow = guard.try_cast(clamped, guard.decimal_name(_STEP_DIGITS, kind.scale))
    power = guard.decimal_name(_DIGITS + 1, 0)
    scale = len(str(int(1 / value.step))) - 1
    product = exp.Mul(this=narrow, expression=guard.cast(integer(10**scale), power))
    return guard.try_cast(exp.Paren(this=product), "BIGINT")


def _nearest(end: Fraction, kind: Decimal) -> Fraction:
    """The nearest value that `kind` can hold: none of its values lies beyond its ends."""
    largest = Fraction(10**kind.precision - 1, 10**kind.scale)
    return min(max(end, -largest), largest)


def is_nan(double: exp.Expr) -> exp.Expr:
    """Whether a double is NaN."""
    return guard.call("ISNAN", double)


def sum_in_steps(
    column: exp.Expr, kind: Decimal, magnitude: int, *, has_few_rows: bool
) -> exp.Expr:
    """`column`, a sum of decimals, as an integer of their last digit; 0 where it is NULL.

    What is before the point and what is after it are multiplied apart: a product with the digits
    after the point would have no room for as many before it.
    """
    del magnitude, has_few_rows
    if kind.scale > _DIGITS:
        raise guard.refused(f"a sum of {kind}")
    if kind.scale == 0:
        return exp.Coalesce(this=guard.exact(column), expressions=[integer(0)])
    power = guard.cast(integer(10**kind.scale), guard.decimal_name(kind.scale + 1, 0))
    one = guard.cast(integer(1), guard.decimal_name(1, 0))
    rest = exp.Paren(this=exp.Mod(this=column, expression=one))
    whole = guard.exact(exp.Paren(this=exp.Sub(this=column.copy(), expression=rest.copy())))
    last = exp.Paren(this=exp.Mul(this=rest, expression=power.copy()))
    total = exp.Add(this=exp.Mul(this=whole, expression=power), expression=guard.exact(last))
    return exp.Coalesce(this=total, expressions=[integer(0)])
