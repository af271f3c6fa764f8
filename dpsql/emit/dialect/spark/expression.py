"""Scalar expressions for Spark: on no row, of whatever values, do they raise.

Sums, differences and products of integers and decimals are `try_…`, each of them, in the type that
the plan has for it; quotients are of doubles. What isn't on the lists here and in `function` is
refused by its name. Each expression is atomic: a name, a call, a CASE, or in parentheses.
"""

from __future__ import annotations

import datetime as dt
from fractions import Fraction
from typing import Final, assert_never

from sqlglot import exp

from dpsql.emit.dialect.nodes import integer
from dpsql.emit.dialect.spark import guard
from dpsql.emit.dialect.spark.function import emit_call
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
from dpsql.schema.sql_type import (
    Boolean,
    Date,
    Decimal,
    Double,
    Integer,
    SqlType,
    Timestamp,
    Varchar,
)

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

_ATTEMPTS: Final = {
    ArithmeticOperator.ADD: "TRY_ADD",
    ArithmeticOperator.SUBTRACT: "TRY_SUBTRACT",
    ArithmeticOperator.MULTIPLY: "TRY_MULTIPLY",
}

_OF_DOUBLES: Final[dict[ArithmeticOperator, type[exp.Binary]]] = {
    ArithmeticOperator.ADD: exp.Add,
    ArithmeticOperator.SUBTRACT: exp.Sub,
    ArithmeticOperator.MULTIPLY: exp.Mul,
}


def emit_expression(expression: Expression) -> exp.Expr:
    """`expression` as Spark's SQL, of its own type; Refused where no rule says how."""
    name = guard.type_name(expression.type)
    match expression:
        case Literal(value=value, type=kind):
            return constant(value, kind)
        case Parameter():
            raise InternalError("generic plans are run on DuckDB alone")
        case Column():
            return reference(expression)
        case Arithmetic():
            return _arithmetic(expression)
        case Compare(op=op, left=left, right=right):
            first, second = _comparable(left, right)
            return exp.Paren(this=_COMPARISONS[op](this=first, expression=second))
        case And(operands=operands):
            return exp.Paren(this=exp.and_(*map(emit_expression, operands), copy=False))
        case Or(operands=operands):
            return exp.Paren(this=exp.or_(*map(emit_expression, operands), copy=False))
        case Not(operand=operand):
            return exp.Paren(this=exp.Not(this=emit_expression(operand)))
        case IsNull(operand=operand):
            return exp.Paren(this=exp.Is(this=emit_expression(operand), expression=exp.null()))
        case InList(operand=operand, values=values):
            return _in_list(operand, values)
        case Case(branches=branches, otherwise=otherwise):
            case_when = exp.case()
            for branch in branches:
                condition, chosen = emit_expression(branch.condition), branch.result
                case_when = case_when.when(condition, _of_type(chosen, expression.type), copy=False)
            return case_when.else_(_of_type(otherwise, expression.type), copy=False)
        case Cast(operand=Literal(value=None)):
            return guard.cast(exp.null(), name)
        case Cast(operand=operand, type=target):
            return _of_type(operand, target)
        case Call(arguments=arguments):
            return emit_call(expression, [emit_expression(a) for a in arguments])
        case missing:
            assert_never(missing)


def constant(value: object, kind: SqlType) -> exp.Expr:
    """A constant of exactly the type `kind`."""
    name = guard.type_name(kind)
    match value, kind:
        case None, _:
            return guard.cast(exp.null(), name)
        case bool(), _:
            return exp.Boolean(this=value)
        case ((int() | Fraction()), Double()):
            return guard.double(Fraction(value))
        case int(), Integer():
            return guard.cast(integer(value), name)
        case ((int() | Fraction()), Decimal()):
            return guard.number(Fraction(value), kind)
        case str(), Varchar():
            return exp.Literal.string(value)
        case dt.datetime(), Timestamp():
            return guard.cast(exp.Literal.string(value.isoformat(sep=" ")), name)
        case dt.date(), Date():
            return guard.cast(exp.Literal.string(value.isoformat()), name)
        case _:
            raise guard.refused(f"a constant of type {kind}")


def _comparable(left: Expression, right: Expression) -> tuple[exp.Expr, exp.Expr]:
    """Two operands in one type that holds the values of both; Refused if there is none."""
    common = _common_type(left.type, right.type)
    return _of_type(left, common), _of_type(right, common)


def _common_type(one: SqlType, other: SqlType) -> SqlType:
    match one, other:
        case Integer() as first, Integer() as second:
            return first if first.holds(second) else second
        case (Integer() | Decimal()) as first, (Integer() | Decimal()) as second:
            kinds = [guard.digits(kind) for kind in (first, second)]
            whole, scale = (max(column) for column in zip(*kinds, strict=True))
            if whole + scale <= guard.WIDE:
                return Decimal(whole + scale, scale)
        case (Integer() | Decimal() | Double(), Double()) | (Double(), Integer() | Decimal()):
            return Double()
        case (Date(), Timestamp()) | (Timestamp(), Date()):
            return Timestamp()
        case first, second if first == second:
            return first
    raise guard.refused(f"a comparison of {one} with {other}")


def _in_list(operand: Expression, values: tuple[Literal, ...]) -> exp.Expr:
    """Of doubles, each is compared: in a long list, Spark's -0.0 isn't 0.0."""
    if isinstance(operand.type, Double) or any(v.type != operand.type for v in values):
        equal = (
            exp.EQ(this=first, expression=second)
            for first, second in (_comparable(operand, value) for value in values)
        )
        return exp.Paren(this=exp.or_(*equal, copy=False))
    listed = list(map(emit_expression, values))
    return exp.Paren(this=exp.In(this=emit_expression(operand), expressions=listed))


def _arithmetic(arithmetic: Arithmetic) -> exp.Expr:
    left, right, op = arithmetic.left, arithmetic.right, arithmetic.op
    match arithmetic.type:
        case Double():
            first, second = (_of_type(operand, Double()) for operand in (left, right))
            if op is ArithmeticOperator.DIVIDE:
                return guard.call("TRY_DIVIDE", first, second)
            return exp.Paren(this=_OF_DOUBLES[op](this=first, expression=second))
        case Integer() as kind if op in _ATTEMPTS:
            name = guard.type_name(kind)
            operands = (guard.cast(_number(operand, kind), name) for operand in (left, right))
            return guard.in_range(guard.call(_ATTEMPTS[op], *operands), kind)
        case Decimal() as kind if op in _ATTEMPTS:
            operands = (_number(operand, None) for operand in (left, right))
            return guard.in_range(guard.call(_ATTEMPTS[op], *operands), kind)
        case kind:
            raise guard.refused(f"{op.value} of type {kind}")


def _number(operand: Expression, held_by: Integer | None) -> exp.Expr:
    """An exact number: an integer that a type holds, or as a decimal."""
    kind, value = operand.type, emit_expression(operand)
    if held_by is not None and isinstance(kind, Integer) and held_by.holds(kind):
        return value
    if held_by is None and isinstance(kind, Integer | Decimal):
        return guard.as_decimal(value, kind)
    raise guard.refused(f"arithmetic of {kind}")


def _of_type(operand: Expression, target: SqlType) -> exp.Expr:
    """The value of `operand` in another type; NULL where that has no such value."""
    value, kind = emit_expression(operand), operand.type
    name = guard.type_name(target)
    match kind, target:
        case _ if kind == target:
            return value
        case Boolean(), Integer():
            return guard.cast(value, name)
        case ((Boolean() | Integer()), Varchar()):
            return guard.cast(value, name)
        case Decimal(precision=precision, scale=scale), Varchar() if scale < precision:
            # Of DECIMAL(2,2), DuckDB writes .50.
            return guard.cast(value, name)
        case ((Date() | Timestamp()), Varchar()):
            return guard.bind(
                value, lambda day: guard.when_plain(day, guard.cast(day.copy(), name))
            )
        case Integer(), Integer():
            return guard.cast(value, name) if target.holds(kind) else guard.in_range(value, target)
        case Integer(), Decimal():
            return guard.try_cast(value, name)
        case Decimal(scale=scale), Decimal(scale=narrower):
            del scale, narrower  # digits after the point are rounded half away from 0, as DuckDB's
            return guard.try_cast(value, name)
        case Decimal(), Integer():
            return guard.in_range(guard.call("ROUND", value, integer(0)), target)
        case ((Integer() | Decimal()), Double(bits=64)):
            return guard.cast(value, name)
        case Double(bits=64), Integer(bits=bits) if bits <= 64:
            # Rounded half to even, as DuckDB does; a cast would cut.
            whole = guard.try_cast(guard.call("RINT", value), "BIGINT")
            return guard.in_range(whole, target)
        case Date(), Timestamp():
            # try_cast of a day that has no moment fails where the column is never NULL.
            return guard.bind(
                value, lambda day: guard.when_known(day, guard.cast(day.copy(), name))
            )
        case Timestamp(), Date():
            return guard.cast(value, name)
        case _:
            raise guard.refused(f"a cast of {kind} to {target}")
