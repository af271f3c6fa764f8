"""Scalar expressions for PostgreSQL: on no row, of whatever values, do they raise.

Integers and decimals are computed in numeric, which is exact, and NULL where their type doesn't
hold what they make, as DuckDB's TRY has it. What isn't on the lists here and in `function` is
refused by its name. Each expression is atomic: a name, a call, a CASE, or in parentheses.

Sums of doubles are NULL where a term is infinite, NaN or beyond 8e307; products and quotients where
an operand is beyond 10^±150. DuckDB has other values there: of that row alone, which the clamp
bounds.
"""

from __future__ import annotations

import datetime as dt
from fractions import Fraction
from typing import Final, assert_never

from sqlglot import exp

from dpsql.emit.dialect.nodes import integer
from dpsql.emit.dialect.postgres import guard
from dpsql.emit.dialect.postgres.function import emit_call
from dpsql.emit.sql.identifier import reference
from dpsql.errors import InternalError
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
from dpsql.schema.sql_type import Boolean, Date, Decimal, Double, Integer, Timestamp, Varchar

_COMPARISONS: Final[dict[Comparison, type[exp.Binary]]] = {
    Comparison.EQUAL: exp.EQ,
    Comparison.UNEQUAL: exp.NEQ,
    Comparison.LESS: exp.LT,
    Comparison.LESS_EQUAL: exp.LTE,
    Comparison.GREATER: exp.GT,
    Comparison.GREATER_EQUAL: exp.GTE,
    Comparison.DISTINCT: exp.NullSafeNEQ,
    Comparison.NOT_DISTINCT: exp.NullSafeEQ,
}

_ARITHMETIC: Final[dict[ArithmeticOperator, type[exp.Binary]]] = {
    ArithmeticOperator.ADD: exp.Add,
    ArithmeticOperator.SUBTRACT: exp.Sub,
    ArithmeticOperator.MULTIPLY: exp.Mul,
}


def emit_expression(expression: Expression) -> exp.Expr:
    """`expression` as PostgreSQL's SQL; Refused where no rule says how."""
    name = guard.type_name(expression.type)
    match expression:
        case Literal():
            return _literal(expression)
        case Parameter():
            raise InternalError("generic plans are run on DuckDB alone")
        case Column():
            return reference(expression)
        case Arithmetic():
            return _arithmetic(expression)
        case Compare(op=op, left=left, right=right):
            return exp.Paren(
                this=_COMPARISONS[op](this=_compared(left), expression=emit_expression(right))
            )
        case And(operands=operands):
            return exp.Paren(this=exp.and_(*map(emit_expression, operands), copy=False))
        case Or(operands=operands):
            return exp.Paren(this=exp.or_(*map(emit_expression, operands), copy=False))
        case Not(operand=operand):
            return exp.Paren(this=exp.Not(this=emit_expression(operand)))
        case IsNull(operand=operand):
            return exp.Paren(this=exp.Is(this=emit_expression(operand), expression=exp.null()))
        case InList(operand=operand, values=values):
            listed = [_literal(value) for value in values]
            return exp.Paren(this=exp.In(this=_compared(operand), expressions=listed))
        case Case(branches=branches, otherwise=otherwise):
            case_when = exp.case()
            for branch in branches:
                case_when = case_when.when(
                    emit_expression(branch.condition), emit_expression(branch.result), copy=False
                )
            return case_when.else_(emit_expression(otherwise), copy=False)
        case Cast(operand=Literal(value=None)):
            return guard.cast(exp.null(), name)
        case Cast(operand=operand):
            return _converted(emit_expression(operand), expression)
        case Call(arguments=arguments):
            return emit_call(expression, [emit_expression(a) for a in arguments])
        case missing:
            assert_never(missing)


def _compared(operand: Expression) -> exp.Expr:
    """Texts are equal if their bytes are, whatever a column's collation has for equal."""
    value = emit_expression(operand)
    return byte_order(value) if isinstance(operand.type, Varchar) else value


def byte_order(text: exp.Expr) -> exp.Expr:
    """A text that is compared, grouped and ordered by its bytes."""
    return exp.Paren(this=exp.Collate(this=text, expression=exp.to_identifier("C", quoted=True)))


def _literal(literal: Literal) -> exp.Expr:
    name = guard.type_name(literal.type)
    match literal.value:
        case None:
            return guard.cast(exp.null(), name)
        case bool() as value:
            return exp.Boolean(this=value)
        case (int() | Fraction()) as value if isinstance(literal.type, Double):
            return guard.double(Fraction(value))
        case int() as value:
            return guard.cast(integer(value), name)
        case Fraction() as value:
            return guard.number(value)
        case str() as value if isinstance(literal.type, Varchar):
            if "\0" in value:
                raise guard.refused("a text with the character of code 0")
            return guard.cast(exp.Literal.string(value), name)
        case dt.datetime() as value:
            return guard.cast(exp.Literal.string(value.isoformat(sep=" ")), name)
        case dt.date() as value:
            return guard.cast(exp.Literal.string(value.isoformat()), name)
        case _:
            raise guard.refused(f"a constant of type {literal.type}")


def _arithmetic(arithmetic: Arithmetic) -> exp.Expr:
    left, right = arithmetic.left, arithmetic.right
    match arithmetic.type, arithmetic.op:
        case Double(), ArithmeticOperator.DIVIDE:
            if not isinstance(left.type, Double) and not isinstance(right.type, Double):
                # Of 38 digits each: neither is so large or so small that the quotient raises.
                divisor = guard.call("NULLIF", _double(right), guard.double(0))
                return exp.Paren(this=exp.Div(this=_double(left), expression=divisor))
            return guard.scaled(_double(left), _double(right), divided=True)
        case Double(), ArithmeticOperator.MULTIPLY:
            return guard.scaled(_double(left), _double(right), divided=False)
        case Double(), op:
            terms = (guard.in_open_range(_double(t), guard.LARGEST_TERM) for t in (left, right))
            first, second = terms
            return exp.Paren(this=_ARITHMETIC[op](this=first, expression=second))
        case (Integer() | Decimal()) as kind, op if op is not ArithmeticOperator.DIVIDE:
            first, second = (guard.exact(emit_expression(t)) for t in (left, right))
            computed = _ARITHMETIC[op](this=first, expression=second)
            if _always_fits(arithmetic, kind):
                return exp.Paren(this=computed)
            return guard.in_range(computed, kind)
        case kind, op:
            raise guard.refused(f"{op.value} of type {kind}")


def _always_fits(arithmetic: Arithmetic, kind: Integer | Decimal) -> bool:
    """Whether `kind` has all values that operands of such types can make: a guard takes long."""
    ranges = [_range(operand) for operand in (arithmetic.left, arithmetic.right)]
    if None in ranges:
        return False
    (low, high), (other_low, other_high) = (ends for ends in ranges if ends is not None)
    match arithmetic.op:
        case ArithmeticOperator.ADD:
            ends = low + other_low, high + other_high
        case ArithmeticOperator.SUBTRACT:
            ends = low - other_high, high - other_low
        case _:
            products = [a * b for a in (low, high) for b in (other_low, other_high)]
            ends = min(products), max(products)
    lower, upper, _ = guard.range_of(kind)
    return lower <= ends[0] and ends[1] <= upper


def _range(operand: Expression) -> tuple[Fraction, Fraction] | None:
    """The ends of an exact operand's values: its own, if it is a constant, or those of its type."""
    match operand, operand.type:
        case Literal(value=int() | Fraction() as value), Integer() | Decimal():
            return Fraction(value), Fraction(value)
        case _, Integer() | Decimal() as kind:
            low, high, _ = guard.range_of(kind)
            return low, high
        case _:
            return None


def _moment(day: exp.Expr) -> exp.Expr:
    """The beginning of a column `day`; NULL where it is finite and too far for a timestamp."""
    start = guard.cast(day.copy(), "TIMESTAMP")
    return guard.or_infinite(guard.when_known(day, start), day, "TIMESTAMP")


def _double(operand: Expression) -> exp.Expr:
    value = emit_expression(operand)
    return value if isinstance(operand.type, Double) else guard.cast(value, "DOUBLE PRECISION")


def _converted(value: exp.Expr, to: Cast) -> exp.Expr:
    """`value` in another type; NULL where that has no such value."""
    kind, target = to.operand.type, to.type
    match kind, target:
        case Boolean(), Integer():
            return guard.cast(value, "INTEGER")
        case Boolean() | Varchar(), Boolean() | Varchar() if kind == target:
            return value
        case ((Boolean() | Integer()), Varchar()):
            return guard.cast(value, "TEXT")
        case Decimal(precision=precision, scale=scale), Varchar() if scale < precision:
            # Of DECIMAL(2,2), DuckDB writes .50.
            return guard.cast(guard.call("ROUND", guard.exact(value), integer(scale)), "TEXT")
        case ((Date() | Timestamp()), Varchar()):
            return guard.bind([value], guard.printed)
        case Integer(), Integer() if target.holds(kind):
            return value
        case Integer(), (Integer() | Decimal()):
            return guard.in_range(guard.exact(value), target)
        case Decimal(scale=scale), Decimal(scale=narrower):
            rounded = value if narrower >= scale else guard.call("ROUND", value, integer(narrower))
            return guard.in_range(guard.exact(rounded), target)
        case Decimal(), Integer():
            return guard.in_range(guard.call("ROUND", value, integer(0)), target)
        case ((Integer() | Decimal()), Double(bits=64)):
            return guard.cast(value, "DOUBLE PRECISION")
        case Double(bits=64), Double(bits=64):
            return value
        case Double(bits=64), Integer(bits=bits) if bits <= 64:
            # Rounded half to even, as DuckDB does; numerics are rounded away from 0.
            whole = guard.cast(guard.in_open_range(value, Fraction(2**63)), "BIGINT")
            return guard.in_range(guard.exact(whole), target)
        case (Date(), Date()) | (Timestamp(), Timestamp()):
            return value
        case Date(), Timestamp():
            return guard.bind([value], _moment)
        case Timestamp(), Date():
            return guard.cast(value, "DATE")
        case _:
            raise guard.refused(f"a cast of {kind} to {target}")
