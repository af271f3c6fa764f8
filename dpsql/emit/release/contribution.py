"""The terms of a bounded release: what each row counts for, clamped, and summed exactly.

Integers and decimals are clamped and summed as they are, which is exact; a double becomes a number
of steps first. Sums then become integers of steps.
"""

from __future__ import annotations

from fractions import Fraction
from typing import assert_never

from sqlglot import exp

from dpsql.emit.dialect.clamp import clamp_to, interval_literals
from dpsql.emit.dialect.nodes import (
    as_steps,
    constant,
    integer,
    is_nan,
    scalar,
    sum_in_steps,
    unit_sum,
    unit_value_count,
    untyped_constant,
    wide_sum,
)
from dpsql.plan.bounded_release.statistic import (
    BoundedMean,
    CappedSum,
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
from dpsql.plan.bounded_release.unit_weight import UnitWeight
from dpsql.plan.expression import Expression
from dpsql.schema.sql_type import Decimal, Double, Integer


def raw_values(statistic: Statistic) -> tuple[exp.Expr, ...]:
    """The arguments of a statistic in a row, NULL where the row adds nothing; () if it has none.

    Of counts it isn't looked at beyond that: rows where it isn't NULL count one each.
    """
    match statistic.term:
        case UnitCount() | UnitWeight() | UnitsOverLimit():
            return ()
        case DistinctValues(argument=argument):
            return (_filtered(argument, statistic),)
        case DistinctSum(value=value):
            return (_filtered(value.argument, statistic),)
        case RowCount():
            if statistic.filter is None:
                return ()
            return (exp.case().when(scalar(statistic.filter), integer(1), copy=False),)
        case NonNullCount(argument=argument) if isinstance(argument.type, Integer | Decimal):
            # DuckDB counts a column without NULLs as rows, by its statistics; a CASE has none.
            # Texts would be wider than a number where rows wait, and doubles may be NaN.
            return (_filtered(argument, statistic),)
        case NonNullCount(argument=argument):
            return (exp.case().when(_only(statistic, _is_value(argument)), integer(1), copy=False),)
        case (
            Sum(value=value)
            | CappedSum(value=value)
            | Square(value=value)
            | PairwiseDeviations(value=value)
            | BoundedMean(value=value)
        ):
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
            | UnitWeight()
            | UnitsOverLimit()
            | DistinctValues()
            | DistinctSum()
            | RowCount()
            | NonNullCount()
        ):
            return columns
        case Sum(value=value) | CappedSum(value=value):
            return columns if value.decimal is not None else (as_steps(value, columns[0]),)
        case Square(value=value) | PairwiseDeviations(value=value) | BoundedMean(value=value):
            return (as_steps(value, columns[0]),)
        case Product(left=left, right=right):
            return as_steps(left, columns[0]), as_steps(right, columns[1])
        case missing:
            assert_never(missing)


def clamp(statistic: Statistic, columns: tuple[exp.Expr, ...]) -> exp.Expr:
    """The term within the very interval that its sensitivity is derived from.

    Raises ValueError of a column whose values are counted, and are no terms.
    """
    match statistic.term:
        case UnitCount():
            return integer(1)
        case UnitsOverLimit():
            return integer(0)  # a unit's only row is never too many
        case UnitWeight():
            return integer(0)  # known of all groups of a unit, never of one row
        case DistinctValues() | DistinctSum():
            return integer(0)  # counted or summed beside the sums, over the distinct values
        case RowCount() if statistic.is_row_count:
            return integer(1)
        case RowCount() | NonNullCount():
            raise ValueError("what is counted has no size: COUNT tells values from NULL")
        case Sum(value=value) | CappedSum(value=value):
            return _clamped(value, columns[0], value.decimal)
        case PairwiseDeviations(value=value) | BoundedMean(value=value):
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


def _clamped(value: Discretized, column: exp.Expr, kind: Decimal | None) -> exp.Expr:
    """`column` within the value's interval, less its centre; in steps, or as decimals of `kind`."""
    clamped = _clamp_to_bounds(value, column, kind)
    if value.center == 0:
        return clamped
    return exp.Sub(this=exp.Paren(this=clamped), expression=center_of(value, kind))


def center_of(value: Discretized, kind: Decimal | None) -> exp.Expr:
    """The value's centre, in steps or as a decimal of `kind`, or of a wider type that holds it."""
    return integer(value.center) if kind is None else _exactly(value.center, kind)


def _clamp_to_bounds(value: Discretized, column: exp.Expr, kind: Decimal | None) -> exp.Expr:
    return clamp_to(exp.case(), column, *interval_literals(value, kind))


def in_range(value: Discretized, steps: exp.Expr) -> exp.Expr:
    """`steps` within the value's bounds, from the lowest one on."""
    return _clamped(value, steps, None)


def filtered(item: exp.Expr, statistic: Statistic) -> exp.Expr:
    """`item`, NULL where the statistic's filter doesn't hold."""
    if statistic.filter is None:
        return item
    return exp.case().when(scalar(statistic.filter), item, copy=False)


def sum_of(term: exp.Expr) -> exp.Expr:
    """A sum of integers or decimals: exact in any order."""
    return wide_sum(term)


def sum_of_unit(statistic: Statistic, term: exp.Expr) -> exp.Expr:
    """A sum of the statistic's clamped terms over one unit's rows in one group."""
    return unit_sum(term, _decimal_of(statistic), statistic.magnitude)


def value_count_of_unit(statistic: Statistic, values: exp.Expr) -> exp.Expr:
    """How many values there are in such a sum, of the column `values`."""
    return unit_value_count(values, _decimal_of(statistic), statistic.magnitude)


def number_of(values: exp.Expr) -> exp.Expr:
    """`COUNT(values)`: of those that aren't NULL."""
    return exp.Anonymous(this="count", expressions=[values])


def number_of_rows() -> exp.Expr:
    """`COUNT(*)`: those without a value, too."""
    return exp.Anonymous(this="count", expressions=[exp.Star()])


def to_steps(statistic: Statistic, column: exp.Expr, *, has_few_rows: bool = False) -> exp.Expr:
    """`column`, a sum of terms, as an integer of steps; 0 where there was nothing to sum.

    Where it `has_few_rows`, to plan a second way takes longer than it saves.
    """
    kind = _decimal_of(statistic)
    if kind is not None:
        return sum_in_steps(column, kind, statistic.magnitude, has_few_rows=has_few_rows)
    return exp.Coalesce(this=column, expressions=[integer(0)])


def _decimal_of(statistic: Statistic) -> Decimal | None:
    """The type of a sum of decimals that are clamped as they are."""
    term = statistic.term
    return term.value.decimal if isinstance(term, Sum | CappedSum) else None


def _filtered(argument: Expression, statistic: Statistic) -> exp.Expr:
    return filtered(scalar(argument), statistic)


def _exactly(steps: int, kind: Decimal) -> exp.Expr:
    """`steps` as a decimal, of a wider type where bounds reach beyond what `kind` can hold."""
    value = Fraction(steps, 10**kind.scale)
    if abs(steps) < 10**kind.precision:
        return untyped_constant(value, kind)
    return constant(value, Decimal(38, kind.scale))


def _only(statistic: Statistic, condition: exp.Expr) -> exp.Expr:
    if statistic.filter is None:
        return condition
    return exp.and_(scalar(statistic.filter), condition, copy=False)


def _is_value(argument: Expression) -> exp.Expr:
    """Neither NULL nor NaN."""
    rendered = scalar(argument)
    present = exp.Not(this=exp.Is(this=rendered, expression=exp.null()))
    if isinstance(argument.type, Double):
        return exp.and_(present, exp.Not(this=is_nan(rendered.copy())), copy=False)
    return present
