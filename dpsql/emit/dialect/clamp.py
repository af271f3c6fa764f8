"""Clamps, and the constants of the intervals that values are clamped to."""

from __future__ import annotations

from fractions import Fraction

from sqlglot import exp

from dpsql.emit.dialect.nodes import integer, untyped_constant
from dpsql.plan.bounded_release.statistic import Discretized
from dpsql.schema.sql_type import Decimal


def clamp_to(case: exp.Case, column: exp.Expr, low: exp.Expr, high: exp.Expr) -> exp.Case:
    """NULL stays NULL; CASE is cheaper than least and greatest, which ignore NULLs."""
    return (
        case.when(exp.LT(this=column.copy(), expression=low), low.copy(), copy=False)
        .when(exp.GT(this=column.copy(), expression=high), high.copy(), copy=False)
        .else_(column.copy(), copy=False)
    )


def interval_literals(value: Discretized, kind: Decimal | None) -> tuple[exp.Expr, exp.Expr]:
    """The interval that a value is clamped to, in steps or as decimals of `kind`."""
    low, high = (
        integer(bound) if kind is None else untyped_constant(_typed_steps(bound, kind), kind)
        for bound in (value.low, value.high)
    )
    return low, high


def _typed_steps(steps: int, kind: Decimal) -> Fraction:
    """The nearest value that `kind` can hold: none of its values lies beyond its ends."""
    largest = 10**kind.precision - 1
    return Fraction(min(max(steps, -largest), largest), 10**kind.scale)
