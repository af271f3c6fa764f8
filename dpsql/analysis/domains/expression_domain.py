"""Domains of expressions, by interval arithmetic and finite sets."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import reduce
from typing import assert_never

from dpsql.analysis.domains.finite_domain import applied, combined, converted, enumerated_domain
from dpsql.analysis.domains.predicate_narrowing import Known, bare, narrow
from dpsql.plan.expression import (
    And,
    Arithmetic,
    ArithmeticOperator,
    Call,
    Case,
    Cast,
    Column,
    Compare,
    Comparison,
    Expression,
    InList,
    IsNull,
    Literal,
    Not,
    Or,
    Parameter,
)
from dpsql.privacy.domain import UNKNOWN, Domain, Interval, of_values
from dpsql.schema.sql_type import (
    Array,
    Boolean,
    Date,
    Decimal,
    Double,
    Integer,
    Null,
    SqlType,
    Timestamp,
    Uuid,
    Varchar,
)
from dpsql.schema.sql_type import Interval as IntervalType

Environment = Mapping[Known, Domain]
"""Domains of columns, by id, and of expressions that a predicate compared with constants."""

TRUTH = (False, True)
DAY = Fraction(86_400_000_000)
"""Microseconds of a day: coordinates of dates are days, those of timestamps microseconds."""

_HALF = Fraction(1, 2)


def domain(expression: Expression, columns: Environment) -> Domain:
    """The domain of `expression` over `columns`; a column without a domain there has any value."""
    if not isinstance(expression, Column) and expression in columns:
        return columns[expression]
    match expression:
        case Literal(value=value):
            if value is None:
                return Domain(values=(), nullable=True)
            return of_values((value,), nullable=False)
        case Parameter():
            return UNKNOWN.as_not_null()
        case Column(id=number):
            return columns.get(number, UNKNOWN)
        case Arithmetic():
            return enumerated_domain(expression, columns) or _arithmetic(expression, columns)
        case Compare(op=Comparison.DISTINCT | Comparison.NOT_DISTINCT) | IsNull():
            return Domain(values=TRUTH, nullable=False)
        case Compare(left=left, right=right):
            return _truth(columns, left, right)
        case And(operands=operands) | Or(operands=operands):
            return _truth(columns, *operands)
        case Not(operand=operand):
            return _truth(columns, operand)
        case InList(operand=operand, values=values):
            # A value that equals none of the list: whether the list has a NULL isn't known.
            return _truth(columns, operand, *values)
        case Case(branches=branches, otherwise=otherwise):
            # Each result is evaluated only where its condition holds.
            results = [domain(b.result, narrow(b.condition, columns)) for b in branches]
            return reduce(Domain.union, [*results, domain(otherwise, columns)])
        case Cast(operand=operand, type=target):
            few = enumerated_domain(expression, columns)
            return few or _cast(domain(operand, columns), operand.type, target)
        case Call(arguments=arguments):
            few = enumerated_domain(expression, columns)
            return few or applied(expression, tuple(domain(a, columns) for a in arguments))
        case missing:
            assert_never(missing)


def _truth(columns: Environment, *operands: Expression) -> Domain:
    return Domain(values=TRUTH, nullable=any(domain(o, columns).nullable for o in operands))


def _arithmetic(expression: Arithmetic, columns: Environment) -> Domain:
    left, right = domain(expression.left, columns), domain(expression.right, columns)
    nullable = left.nullable or right.nullable
    bounds: Interval | None = None
    if left.bounds is not None and right.bounds is not None:
        match expression.op:
            case ArithmeticOperator.ADD:
                bounds = left.bounds + right.bounds
            case ArithmeticOperator.SUBTRACT:
                bounds = left.bounds - right.bounds
            case ArithmeticOperator.MULTIPLY:
                bounds = left.bounds * right.bounds
            case ArithmeticOperator.DIVIDE:
                bounds = left.bounds.divide(right.bounds, _step(expression.right))
            case missing:
                assert_never(missing)
    if expression.op is ArithmeticOperator.DIVIDE:
        divisor = right.bounds
        nullable = nullable or divisor is None or Fraction(0) in divisor
    known = Domain(bounds, nullable=nullable or not _fits(bounds, expression.type))
    return combined(expression, (left, right), known)


def _step(expression: Expression) -> Fraction | None:
    """A number that divides each value of `expression`; None for doubles, which come near zero."""
    operand = bare(expression)
    if isinstance(operand, Case):
        # NULL is no value. Steps are 1, 0.1, 0.01 and so on: the least divides all.
        results = [*(b.result for b in operand.branches), operand.otherwise]
        steps = [_step(r) for r in results if r != Literal(None, r.type)]
        known = [step for step in steps if step is not None]
        return min(known) if known and len(known) == len(steps) else None
    match operand.type:
        case Integer():
            return Fraction(1)
        case Decimal(scale=scale):
            return Fraction(1, 10**scale)
        case _:
            return None


def _cast(before: Domain, source: SqlType, target: SqlType) -> Domain:
    if source == target:
        return before
    if isinstance(source, Boolean) and isinstance(target, Integer):
        return Domain(Interval(Fraction(0), Fraction(1)), (0, 1), before.nullable)
    bounds = None if before.bounds is None else _converted(before.bounds, source, target)
    nullable = before.nullable or bounds is None or not _fits(bounds, target)
    return converted(before, source, target, Domain(bounds, nullable=nullable))


def _converted(bounds: Interval, source: SqlType, target: SqlType) -> Interval | None:
    """The bounds of values in `bounds` after a cast, overflow aside; None if no rule is known."""
    number = Integer | Decimal | Double
    match source, target:
        case Integer() | Decimal() | Double(), Integer():
            # Rounding moves a number by at most one half.
            return bounds + Interval(-_HALF, _HALF)
        case Integer() | Decimal() | Double(), Decimal(scale=scale):
            margin = Fraction(0) if isinstance(source, Integer) else _HALF / 10**scale
            return bounds + Interval(-margin, margin)
        case _, Double() if isinstance(source, number):
            return bounds
        case Date(), Timestamp():
            return bounds * Interval(DAY, DAY)
        case Timestamp(), Date():
            return bounds * Interval(1 / DAY, 1 / DAY) + Interval(Fraction(-1), Fraction(0))
        case _:
            return None


def _fits(bounds: Interval | None, target: SqlType) -> bool:
    """No value within `bounds` overflows the type `target`."""
    ends = None if bounds is None else bounds.ends
    match target:
        case Integer(bits=bits, signed=signed):
            low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
            return ends is not None and low <= ends[0] and ends[1] <= high
        case Decimal(precision=precision, scale=scale):
            limit = Fraction(10**precision - 1, 10**scale)
            return ends is not None and -limit <= ends[0] and ends[1] <= limit
        case (
            Boolean()
            | Double()
            | Varchar()
            | Date()
            | Timestamp()
            | IntervalType()
            | Uuid()
            | Array()
            | Null()
        ):
            # Whether NULL may appear matters for accuracy only; other types don't overflow here.
            return True
        case missing:
            assert_never(missing)
