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
from dpsql.plan.expression import Expression
from dpsql.plan.statistic import (
    Amount,
    Deviations,
    Distinct,
    Measured,
    Ones,
    Over,
    Presence,
    Present,
    Product,
    Square,
    Statistic,
)
from dpsql.privacy.domain import day
from dpsql.schema.type import BIGINT, HUGEINT, Date, Decimal, Double, Integer, Timestamp

_NARROW = 18
"""Digits of a decimal in 64 bits."""

_EXPECTED_ROWS = 1000
"""Sums of so many are mostly the largest."""


def values(statistic: Statistic) -> tuple[exp.Expr, ...]:
    """What a row counts for, NULL where it counts for nothing; none if it needs no column."""
    match statistic.term:
        case Presence() | Over():
            return ()
        case Distinct(argument=argument):
            return (_filtered(argument, statistic),)
        case Ones():
            if statistic.filter is None:
                return ()
            return (exp.case().when(emit_expression(statistic.filter), integer(1), copy=False),)
        case Present(argument=argument):
            return (exp.case().when(_only(statistic, _is_value(argument)), integer(1), copy=False),)
        case Amount(value=value) | Square(value=value) | Deviations(value=value):
            return (_filtered(value.argument, statistic),)
        case Product(left=left, right=right):
            return _filtered(left.argument, statistic), _filtered(right.argument, statistic)
        case missing:
            assert_never(missing)


def measured(statistic: Statistic, columns: tuple[exp.Expr, ...]) -> tuple[exp.Expr, ...]:
    """A row's values in what they are clamped in: decimals as they are, else steps."""
    match statistic.term:
        case Presence() | Over() | Distinct() | Ones() | Present():
            return columns
        case Amount(value=value):
            return columns if _exact_decimal(value) is not None else (_steps(value, columns[0]),)
        case Square(value=value) | Deviations(value=value):
            return (_steps(value, columns[0]),)
        case Product(left=left, right=right):
            return _steps(left, columns[0]), _steps(right, columns[1])
        case missing:
            assert_never(missing)


def clamped_term(statistic: Statistic, columns: tuple[exp.Expr, ...]) -> exp.Expr:
    """The term within the very interval that its sensitivity is derived from."""
    match statistic.term:
        case Presence():
            return integer(1)
        case Over():
            return integer(0)  # a unit's only row is never too many
        case Distinct():
            return integer(0)  # counted beside the sums, over the distinct values
        case Ones() if statistic.filter is None:
            return integer(1)
        case Ones() | Present():
            return columns[0]
        case Amount(value=value):
            return _clamped(value, columns[0], _exact_decimal(value))
        case Deviations(value=value):
            return exp.Paren(this=_clamped(value, columns[0], None))
        case Square(value=value):
            clamped = exp.Paren(this=_clamped(value, columns[0], None))
            squared = exp.Mul(this=clamped, expression=clamped.copy())
            return exp.Sub(this=squared, expression=integer(value.radius**2))
        case Product(left=left, right=right):
            return exp.Mul(
                this=exp.Paren(this=_clamped(left, columns[0], None)),
                expression=exp.Paren(this=_clamped(right, columns[1], None)),
            )
        case missing:
            assert_never(missing)


def _steps(value: Measured, column: exp.Expr) -> exp.Expr:
    """`column` as an integer of steps; NULL where it is none."""
    step, kind = value.step, value.argument.type
    match kind:
        case Double():
            # Infinities and huge values can't be cast, so doubles are clamped as doubles first.
            low, high = (emit_literal(end * step, Double()) for end in (value.low, value.high))
            clamped = within(
                exp.case().when(is_nan(column.copy()), exp.null(), copy=False), column, low, high
            )
            scaled = exp.Mul(this=clamped, expression=emit_literal(1 / step, Double()))
            return try_cast(scaled, BIGINT)
        case Integer() if step == 1:
            return try_cast(column, BIGINT)
        case Date():
            return attempt(exp.Sub(this=column, expression=emit_literal(day(0), Date())))
        case Timestamp():
            return attempt(exp.Anonymous(this="epoch_us", expressions=[column]))
        case Decimal() if step < 1:
            wide = try_cast(column, Decimal(38, kind.scale))
            scaled = exp.Mul(this=wide, expression=integer(int(1 / step)))
            return try_cast(attempt(scaled), BIGINT)
        case _:
            # Coarser than one: truncation toward zero keeps a value within its bounds.
            whole = exp.IntDiv(this=try_cast(column, HUGEINT), expression=integer(int(step)))
            return try_cast(attempt(whole), BIGINT)


def _clamped(value: Measured, column: exp.Expr, kind: Decimal | None) -> exp.Expr:
    """`column` within the value's interval, less its centre; in steps, or as decimals of `kind`."""
    low, high = (
        integer(bound) if kind is None else emit_literal(_held(bound, kind), kind)
        for bound in (value.low, value.high)
    )
    middle = integer(value.centre) if kind is None else _exactly(value.centre, kind)
    clamped = within(exp.case(), column, low, high)
    if value.centre == 0:
        return clamped
    return exp.Sub(this=exp.Paren(this=clamped), expression=middle)


def steps_of(value: Measured, column: exp.Expr) -> exp.Expr:
    """`column` in steps, NULL where there is none; not yet within its bounds."""
    return _steps(value, column)


def in_range(value: Measured, steps: exp.Expr) -> exp.Expr:
    """`steps` within the value's bounds, from the lowest one on."""
    return _clamped(value, steps, None)


def total(term: exp.Expr) -> exp.Expr:
    """A sum of integers or decimals: exact in 128 bits, in any order."""
    return exp.Anonymous(this="sum", expressions=[term])


def in_steps(statistic: Statistic, column: exp.Expr) -> exp.Expr:
    """`column`, a sum of terms, as an integer of steps; 0 where there was nothing to sum."""
    amount = statistic.term
    kind = _exact_decimal(amount.value) if isinstance(amount, Amount) else None
    if kind is not None and kind.scale:
        ways = _narrow_or_wide(column, kind.scale, _EXPECTED_ROWS * statistic.magnitude)
    else:
        ways = [column if kind is None else try_cast(column, HUGEINT)]
    return exp.Coalesce(this=ways[0], expressions=[*ways[1:], integer(0)])


def _narrow_or_wide(column: exp.Expr, scale: int, expected: int) -> list[exp.Expr]:
    """A decimal of `scale` times 10^scale, mostly one of no more than `expected` steps.

    In 64 bits it takes a fifth of what it takes in 128; not to fit takes ten times as long. There,
    powers of ten are as large as leaves room for what is expected; a product has all 18 digits.
    In 128 bits they are of two digits, as 2^63 rows of 2^52 steps are fewer than 10^35.
    """
    wide = _descaled(column, scale, 2, 38)
    power = min(scale, _NARROW - 1 - len(str(expected)))
    digits = _NARROW - 1 - power
    if power < 1 or digits < scale:
        return [wide]
    return [_descaled(try_cast(column, Decimal(digits, scale)), scale, power, digits), wide]


def _descaled(column: exp.Expr, scale: int, power: int, digits: int) -> exp.Expr:
    """`column` without digits after the point: multiplied by 10^power as often as it takes.

    Each product loses as many of its scale, so that nothing is rounded; NULL where one overflows.
    """
    while scale:
        power = min(power, scale)
        scale -= power
        factor = emit_literal(10**power, Decimal(power + 1, 0))
        product = attempt(exp.Mul(this=column.copy(), expression=factor))
        column = try_cast(product, Decimal(digits, scale) if scale else HUGEINT)
    return column


def within(case: exp.Case, column: exp.Expr, low: exp.Expr, high: exp.Expr) -> exp.Expr:
    """NULL stays NULL; CASE is cheaper than least and greatest, which ignore NULLs."""
    return (
        case.when(exp.LT(this=column.copy(), expression=low), low.copy(), copy=False)
        .when(exp.GT(this=column.copy(), expression=high), high.copy(), copy=False)
        .else_(column.copy(), copy=False)
    )


def _exact_decimal(value: Measured) -> Decimal | None:
    """The argument's decimal type, if its steps are the value's."""
    kind = value.argument.type
    if isinstance(kind, Decimal) and value.step == Fraction(1, 10**kind.scale):
        return kind
    return None


def _filtered(argument: Expression, statistic: Statistic) -> exp.Expr:
    rendered = emit_expression(argument)
    if statistic.filter is None:
        return rendered
    return exp.case().when(emit_expression(statistic.filter), rendered, copy=False)


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
    return exp.and_(emit_expression(statistic.filter), condition, copy=False)


def _is_value(argument: Expression) -> exp.Expr:
    """Neither NULL nor NaN."""
    rendered = emit_expression(argument)
    present = exp.Not(this=exp.Is(this=rendered, expression=exp.null()))
    if isinstance(argument.type, Double):
        return exp.and_(present, exp.Not(this=is_nan(rendered.copy())), copy=False)
    return present
