"""Values and sums of them as integers of steps, on PostgreSQL."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from sqlglot import exp

from dpsql.emit.dialect.clamp import clamp_to
from dpsql.emit.dialect.nodes import integer
from dpsql.emit.dialect.postgres import guard
from dpsql.plan.bounded_release.statistic import Discretized
from dpsql.privacy.domain import day
from dpsql.schema.sql_type import BIGINT, Date, Decimal, Double, Integer, Timestamp

_INFINITE_DAY: Final = 2**31 - 1

_NEXT_TO_ZERO: Final = Fraction(1, 10**200)
"""A double nearer to 0 is 0 steps: times the steps of one, it could be too near to 0 to compute."""


def steps(value: Discretized, column: exp.Expr) -> exp.Expr:
    """`column` as an integer of steps; NULL where it is none."""
    step, kind = value.step, value.argument.type
    match kind:
        case Double(bits=64):
            return _double_steps(value, column)
        case Integer() if step == 1:
            return guard.cast(guard.in_range(guard.exact(column), BIGINT), "BIGINT")
        case Date():
            return _days(column)
        case Timestamp():
            finite = guard.finite(column, "TIMESTAMP")
            seconds = exp.Extract(this=exp.var("EPOCH"), expression=finite)
            product = exp.Mul(this=guard.exact(seconds), expression=integer(10**6))
            # PostgreSQL's last moments are more than 2^63 microseconds away from 1970.
            return guard.cast(guard.in_range(product, BIGINT), "BIGINT")
        case Decimal() if step < 1:
            scale = len(str(int(1 / step))) - 1
            rounded = column if scale >= kind.scale else guard.call("ROUND", column, integer(scale))
            product = exp.Mul(this=guard.exact(rounded), expression=integer(10**scale))
            return guard.call("TRUNC", product)
        case Integer() | Decimal():
            whole = guard.call("ROUND", guard.exact(column), integer(0))
            coarse = guard.call("DIV", whole, guard.exact(integer(int(step))))
            return guard.cast(guard.in_range(coarse, BIGINT), "BIGINT")
        case _:
            raise guard.refused(f"a sum of {kind}")


def _days(column: exp.Expr) -> exp.Expr:
    """Days since 1970, as many for an infinite one as DuckDB has: it is clamped to a bound."""
    case = exp.case()
    for word, number in (("infinity", _INFINITE_DAY), ("-infinity", -_INFINITE_DAY)):
        infinite = guard.cast(exp.Literal.string(word), "DATE")
        is_infinite = exp.EQ(this=column.copy(), expression=infinite)
        case = case.when(is_infinite, integer(number), copy=False)
    epoch = guard.cast(exp.Literal.string(day(0).isoformat()), "DATE")
    days = exp.Paren(this=exp.Sub(this=column.copy(), expression=epoch))
    return case.else_(days, copy=False)


def _double_steps(value: Discretized, column: exp.Expr) -> exp.Expr:
    low, high = (guard.double(end * value.step) for end in (value.low, value.high))
    nan = exp.case().when(is_nan(column.copy()), exp.null(), copy=False)
    clamped = clamp_to(nan, column, low, high)
    near = exp.Between(
        this=column.copy(), low=guard.double(-_NEXT_TO_ZERO), high=guard.double(_NEXT_TO_ZERO)
    )
    clamped = clamped.when(near, guard.double(0), copy=False)
    scaled = exp.Mul(this=clamped, expression=guard.double(1 / value.step))
    # Half to even, as on DuckDB.
    return guard.cast(exp.Paren(this=scaled), "BIGINT")


def is_nan(double: exp.Expr) -> exp.Expr:
    """Whether a double is NaN, which equals itself here."""
    return exp.Paren(this=exp.EQ(this=double, expression=guard.double(float("nan"))))


def sum_in_steps(
    column: exp.Expr, kind: Decimal, magnitude: int, *, has_few_rows: bool
) -> exp.Expr:
    """`column`, a sum of decimals, as an integer of their last digit; 0 where it is NULL."""
    del magnitude, has_few_rows  # numerics have no width to choose
    product = exp.Mul(this=guard.exact(column), expression=integer(10**kind.scale))
    return exp.Coalesce(this=guard.call("TRUNC", product), expressions=[integer(0)])
