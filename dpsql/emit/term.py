"""The terms of a bounded release: what each row counts for, clamped, and summed exactly.

Integers and decimals are clamped and summed as they are, which is exact; a double becomes a number
of steps first. Sums then become integers of steps.
"""

from __future__ import annotations

from fractions import Fraction
from typing import assert_never

from sqlglot import exp

from dpsql.emit.call import attempt, try_cast
from dpsql.emit.expression import emit_expression, emit_literal, integer, is_nan
from dpsql.plan.bounded import Amount, Ones, Presence, Present, Statistic
from dpsql.plan.expression import Expression
from dpsql.schema.type import BIGINT, HUGEINT, Decimal, Double, Integer


def value(statistic: Statistic) -> exp.Expr | None:
    """What a row counts for, NULL where it counts for nothing; None if it needs no column."""
    match statistic.term:
        case Presence():
            return None
        case Ones():
            if statistic.filter is None:
                return None
            return exp.case().when(emit_expression(statistic.filter), integer(1))
        case Present(argument=argument):
            return exp.case().when(_only(statistic, _is_value(argument)), integer(1))
        case Amount(argument=argument):
            rendered = emit_expression(argument)
            if statistic.filter is None:
                return rendered
            return exp.case().when(emit_expression(statistic.filter), rendered)
        case missing:
            assert_never(missing)


def measured(statistic: Statistic, column: exp.Expr) -> exp.Expr:
    """`column`, a row's value, in what it is clamped in: decimals as they are, else steps."""
    if not isinstance(statistic.term, Amount) or _exact_decimal(statistic) is not None:
        return column
    step, centre, kind = statistic.step, statistic.term.centre, statistic.term.argument.type
    match kind:
        case Double():
            # Infinities and huge values can't be cast, so doubles are clamped as doubles first.
            low, high = (
                emit_literal((bound + centre) * step, Double())
                for bound in (statistic.low, statistic.high)
            )
            clamped = within(exp.case().when(is_nan(column), exp.null()), column, low, high)
            scaled = exp.Mul(this=clamped, expression=emit_literal(1 / step, Double()))
            return try_cast(scaled, BIGINT)
        case Integer() if step == 1:
            return try_cast(column, BIGINT)
        case Decimal() if step < 1:
            wide = try_cast(column, Decimal(38, kind.scale))
            scaled = exp.Mul(this=wide, expression=integer(int(1 / step)))
            return try_cast(attempt(scaled), BIGINT)
        case _:
            # Coarser than one: truncation toward zero keeps a value within its bounds.
            whole = exp.IntDiv(this=try_cast(column, HUGEINT), expression=integer(int(step)))
            return try_cast(attempt(whole), BIGINT)


def clamped_term(statistic: Statistic, column: exp.Expr) -> exp.Expr:
    """The term within the very interval that its sensitivity is derived from."""
    match statistic.term:
        case Presence():
            return integer(1)
        case Ones() if statistic.filter is None:
            return integer(1)
        case Ones() | Present():
            return column
        case Amount(centre=centre):
            kind = _exact_decimal(statistic)
            low, high = (
                integer(bound) if kind is None else emit_literal(_held(bound, kind), kind)
                for bound in (statistic.low + centre, statistic.high + centre)
            )
            middle = integer(centre) if kind is None else _exactly(centre, kind)
            clamped = within(exp.case(), column, low, high)
            return (
                clamped if centre == 0 else exp.Sub(this=exp.Paren(this=clamped), expression=middle)
            )
        case missing:
            assert_never(missing)


def total(term: exp.Expr) -> exp.Expr:
    """A sum of integers or decimals: exact in 128 bits, in any order."""
    return exp.Anonymous(this="sum", expressions=[term])


def in_steps(statistic: Statistic, column: exp.Expr) -> exp.Expr:
    """`column`, a sum of terms, as an integer of steps; 0 where there was nothing to sum."""
    kind = _exact_decimal(statistic)
    if kind is not None and kind.scale:
        scaled = exp.Mul(this=column, expression=integer(10**kind.scale))
        column = try_cast(attempt(scaled), HUGEINT)
    elif kind is not None:
        column = try_cast(column, HUGEINT)
    return exp.Coalesce(this=column, expressions=[integer(0)])


def within(case: exp.Case, column: exp.Expr, low: exp.Expr, high: exp.Expr) -> exp.Expr:
    """NULL stays NULL; CASE is cheaper than least and greatest, which ignore NULLs."""
    return (
        case.when(exp.LT(this=column.copy(), expression=low), low.copy(), copy=False)
        .when(exp.GT(this=column.copy(), expression=high), high.copy(), copy=False)
        .else_(column.copy(), copy=False)
    )


def _exact_decimal(statistic: Statistic) -> Decimal | None:
    """The argument's decimal type, if its steps are the statistic's."""
    if not isinstance(statistic.term, Amount):
        return None
    kind = statistic.term.argument.type
    if isinstance(kind, Decimal) and statistic.step == Fraction(1, 10**kind.scale):
        return kind
    return None


def _held(steps: int, kind: Decimal) -> Fraction:
    """The nearest value that `kind` can hold: none of its values lies beyond its ends."""
    most = 10**kind.precision - 1
    return Fraction(min(max(steps, -most), most), 10**kind.scale)


def _exactly(steps: int, kind: Decimal) -> exp.Expr:
    """`steps` as a decimal, of a wider type where bounds reach beyond what `kind` can hold."""
    value = Fraction(steps, 10**kind.scale)
    holds = abs(steps) < 10**kind.precision
    return emit_literal(value, kind if holds else Decimal(38, kind.scale))


def _only(statistic: Statistic, condition: exp.Expr) -> exp.Expr:
    if statistic.filter is None:
        return condition
    return exp.and_(emit_expression(statistic.filter), condition)


def _is_value(argument: Expression) -> exp.Expr:
    """Neither NULL nor NaN."""
    rendered = emit_expression(argument)
    present = exp.Not(this=exp.Is(this=rendered, expression=exp.null()))
    if isinstance(argument.type, Double):
        return exp.and_(present, exp.Not(this=is_nan(rendered.copy())))
    return present
