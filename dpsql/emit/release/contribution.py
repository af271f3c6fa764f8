"""The terms of a bounded release: what each row counts for, clamped, and summed exactly.

Integers and decimals are clamped and summed as they are, which is exact; a double becomes a number
of steps first. Sums then become integers of steps.
"""

from __future__ import annotations

from fractions import Fraction
from typing import assert_never

from sqlglot import exp

from dpsql.emit.sql.decimal_steps import in_64_bits, in_128_bits
from dpsql.emit.sql.expression import emit_expression, is_nan
from dpsql.emit.sql.function_call import try_, try_cast
from dpsql.emit.sql.literal import emit_literal, integer, untyped_literal
from dpsql.plan.bounded_release.statistic import (
    Discretized,
    DistinctSum,
    DistinctValues,
    NonNullCount,
    PairwiseDeviations,
    Product,
    RowCount,
    Square,
    Statistic,
    Sum,
    UnitCount,
    UnitsOverLimit,
)
from dpsql.plan.expression import Expression
from dpsql.privacy.domain import day
from dpsql.schema.sql_type import BIGINT, HUGEINT, Date, Decimal, Double, Integer, Timestamp

_EXPECTED_ROWS = 1000
"""Sums of so many are mostly the largest."""


def raw_values(statistic: Statistic) -> tuple[exp.Expr, ...]:
    """The arguments of a statistic in a row, NULL where the row adds nothing; () if it has none."""
    match statistic.term:
        case UnitCount() | UnitsOverLimit():
            return ()
        case DistinctValues(argument=argument):
            return (_filtered(argument, statistic),)
        case DistinctSum(value=value):
            return (_filtered(value.argument, statistic),)
        case RowCount():
            if statistic.filter is None:
                return ()
            return (exp.case().when(emit_expression(statistic.filter), integer(1), copy=False),)
        case NonNullCount(argument=argument):
            return (exp.case().when(_only(statistic, _is_value(argument)), integer(1), copy=False),)
        case Sum(value=value) | Square(value=value) | PairwiseDeviations(value=value):
            return (_filtered(value.argument, statistic),)
        case Product(left=left, right=right):
            return _filtered(left.argument, statistic), _filtered(right.argument, statistic)
        case missing:
            assert_never(missing)


def discretize(statistic: Statistic, columns: tuple[exp.Expr, ...]) -> tuple[exp.Expr, ...]:
    """A row's values as they are clamped: decimals as they are, all others in steps."""
    match statistic.term:
        case (
            UnitCount()
            | UnitsOverLimit()
            | DistinctValues()
            | DistinctSum()
            | RowCount()
            | NonNullCount()
        ):
            return columns
        case Sum(value=value):
            return columns if value.decimal is not None else (_steps(value, columns[0]),)
        case Square(value=value) | PairwiseDeviations(value=value):
            return (_steps(value, columns[0]),)
        case Product(left=left, right=right):
            return _steps(left, columns[0]), _steps(right, columns[1])
        case missing:
            assert_never(missing)


def clamp(statistic: Statistic, columns: tuple[exp.Expr, ...]) -> exp.Expr:
    """The term within the very interval that its sensitivity is derived from."""
    match statistic.term:
        case UnitCount():
            return integer(1)
        case UnitsOverLimit():
            return integer(0)  # a unit's only row is never too many
        case DistinctValues() | DistinctSum():
            return integer(0)  # counted or summed beside the sums, over the distinct values
        case RowCount() if statistic.is_row_count:
            return integer(1)
        case RowCount() | NonNullCount():
            return columns[0]
        case Sum(value=value):
            return _clamped(value, columns[0], value.decimal)
        case PairwiseDeviations(value=value):
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


def _steps(value: Discretized, column: exp.Expr) -> exp.Expr:
    """`column` as an integer of steps; NULL where it is none."""
    step, kind = value.step, value.argument.type
    match kind:
        case Double():
            # Infinities and huge values can't be cast, so doubles are clamped as doubles first.
            low, high = (emit_literal(end * step, Double()) for end in (value.low, value.high))
            clamped = clamp_to(
                exp.case().when(is_nan(column.copy()), exp.null(), copy=False), column, low, high
            )
            scaled = exp.Mul(this=clamped, expression=emit_literal(1 / step, Double()))
            return try_cast(scaled, BIGINT)
        case Integer() if step == 1:
            return try_cast(column, BIGINT)
        case Date():
            return try_(exp.Sub(this=column, expression=emit_literal(day(0), Date())))
        case Timestamp():
            return try_(exp.Anonymous(this="epoch_us", expressions=[column]))
        case Decimal() if step < 1:
            return _decimal_steps(value, kind, column)
        case _:
            # Coarser than one: truncation toward zero keeps a value within its bounds.
            whole = exp.IntDiv(this=try_cast(column, HUGEINT), expression=integer(int(step)))
            return try_cast(try_(whole), BIGINT)


def _decimal_steps(value: Discretized, kind: Decimal, column: exp.Expr) -> exp.Expr:
    """A decimal as an integer of steps; what may be too long for 64 bits is clamped first."""
    scale = len(str(int(1 / value.step))) - 1
    if scale < kind.scale:
        # Coarser than the type's last digit: rounded.
        kind = Decimal(38, scale)
        column = try_cast(column, kind)
    steps = in_64_bits(column, scale, 10**kind.precision - 1, BIGINT)
    if steps is not None:
        return steps
    clamped = _clamp_to_bounds(value, column, kind)
    largest = max(abs(value.low), abs(value.high))
    steps = in_64_bits(clamped, scale, largest, BIGINT)
    return in_128_bits(clamped, scale, BIGINT) if steps is None else steps


def _clamped(value: Discretized, column: exp.Expr, kind: Decimal | None) -> exp.Expr:
    """`column` within the value's interval, less its centre; in steps, or as decimals of `kind`."""
    middle = integer(value.center) if kind is None else _exactly(value.center, kind)
    clamped = _clamp_to_bounds(value, column, kind)
    if value.center == 0:
        return clamped
    return exp.Sub(this=exp.Paren(this=clamped), expression=middle)


def _clamp_to_bounds(value: Discretized, column: exp.Expr, kind: Decimal | None) -> exp.Expr:
    return clamp_to(exp.case(), column, *interval_literals(value, kind))


def steps_of(value: Discretized, column: exp.Expr) -> exp.Expr:
    """`column` in steps, NULL where there is none; they may lie beyond its bounds."""
    return _steps(value, column)


def in_range(value: Discretized, steps: exp.Expr) -> exp.Expr:
    """`steps` within the value's bounds, from the lowest one on."""
    return _clamped(value, steps, None)


def filtered(item: exp.Expr, statistic: Statistic) -> exp.Expr:
    """`item`, NULL where the statistic's filter doesn't hold."""
    if statistic.filter is None:
        return item
    return exp.case().when(emit_expression(statistic.filter), item, copy=False)


def sum_of(term: exp.Expr) -> exp.Expr:
    """A sum of integers or decimals: exact in 128 bits, in any order."""
    return exp.Anonymous(this="sum", expressions=[term])


def number_of_rows() -> exp.Expr:
    """`COUNT(*)`: those without a value, too."""
    return exp.Anonymous(this="count", expressions=[exp.Star()])


def to_steps(statistic: Statistic, column: exp.Expr, *, has_few_rows: bool = False) -> exp.Expr:
    """`column`, a sum of terms, as an integer of steps; 0 where there was nothing to sum.

    Where it `has_few_rows`, to plan a second way takes longer than it saves.
    """
    amount = statistic.term
    kind = amount.value.decimal if isinstance(amount, Sum) else None
    if kind is not None and kind.scale:
        expected = _EXPECTED_ROWS * statistic.magnitude
        ways = (
            None if has_few_rows else in_64_bits(column, kind.scale, expected, HUGEINT),
            in_128_bits(column, kind.scale, HUGEINT),
        )
        first, *others = [*(way for way in ways if way is not None), integer(0)]
        return exp.Coalesce(this=first, expressions=others)
    if kind is not None:
        column = try_cast(column, HUGEINT)
    return exp.Coalesce(this=column, expressions=[integer(0)])


def interval_literals(value: Discretized, kind: Decimal | None) -> tuple[exp.Expr, exp.Expr]:
    """The interval that a value is clamped to, in steps or as decimals of `kind`."""
    low, high = (
        integer(bound) if kind is None else untyped_literal(_typed_steps(bound, kind), kind)
        for bound in (value.low, value.high)
    )
    return low, high


def clamp_to(case: exp.Case, column: exp.Expr, low: exp.Expr, high: exp.Expr) -> exp.Expr:
    """NULL stays NULL; CASE is cheaper than least and greatest, which ignore NULLs."""
    return (
        case.when(exp.LT(this=column.copy(), expression=low), low.copy(), copy=False)
        .when(exp.GT(this=column.copy(), expression=high), high.copy(), copy=False)
        .else_(column.copy(), copy=False)
    )


def _filtered(argument: Expression, statistic: Statistic) -> exp.Expr:
    return filtered(emit_expression(argument), statistic)


def _typed_steps(steps: int, kind: Decimal) -> Fraction:
    """The nearest value that `kind` can hold: none of its values lies beyond its ends."""
    largest = 10**kind.precision - 1
    return Fraction(min(max(steps, -largest), largest), 10**kind.scale)


def _exactly(steps: int, kind: Decimal) -> exp.Expr:
    """`steps` as a decimal, of a wider type where bounds reach beyond what `kind` can hold."""
    value = Fraction(steps, 10**kind.scale)
    if abs(steps) < 10**kind.precision:
        return untyped_literal(value, kind)
    return emit_literal(value, Decimal(38, kind.scale))


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
