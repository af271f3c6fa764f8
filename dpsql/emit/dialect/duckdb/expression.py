"""Scalar expressions in total form: on no row, of whatever values, do they raise.

Integer and decimal arithmetic overflows, casts fail: TRY and TRY_CAST make that NULL, row by row.
Guards don't: the engine may evaluate `x / y` on rows that `y <> 0` would remove.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, assert_never

from sqlglot import exp

from dpsql.emit.dialect.duckdb.function_call import (
    emit_call,
    finite,
    printed,
    try_,
    try_cast,
    unknown,
)
from dpsql.emit.dialect.duckdb.literal import emit_literal, untyped_literal
from dpsql.emit.dialect.nodes import integer
from dpsql.emit.sql.identifier import reference
from dpsql.emit.sql.parameter_mark import parameter_mark
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
from dpsql.schema.sql_type import Double, Integer, Varchar

_COMPARISONS: dict[Comparison, type[exp.Binary]] = {
    Comparison.EQUAL: exp.EQ,
    Comparison.UNEQUAL: exp.NEQ,
    Comparison.LESS: exp.LT,
    Comparison.LESS_EQUAL: exp.LTE,
    Comparison.GREATER: exp.GT,
    Comparison.GREATER_EQUAL: exp.GTE,
    Comparison.DISTINCT: exp.NullSafeNEQ,
    Comparison.NOT_DISTINCT: exp.NullSafeEQ,
}

_ARITHMETIC: dict[ArithmeticOperator, type[exp.Binary]] = {
    ArithmeticOperator.ADD: exp.Add,
    ArithmeticOperator.SUBTRACT: exp.Sub,
    ArithmeticOperator.MULTIPLY: exp.Mul,
    ArithmeticOperator.DIVIDE: exp.Div,
}


ARITHMETIC: Final = "arithmetic"
"""The argument of a TRY that has the arithmetic which it attempts, to be written another way."""


def emit_expression(expression: Expression) -> exp.Expr:
    """`expression` as DuckDB SQL."""
    match expression:
        case Literal(value=value, type=kind):
            return emit_literal(value, kind)
        case Parameter(number=number):
            return parameter_mark(number, is_typed=True)
        case Column():
            return reference(expression)
        case Arithmetic():
            rendered = unchecked(expression, _unknown if is_wide(expression) else emit_expression)
            if not _can_overflow(expression):
                return exp.Paren(this=rendered)
            attempt = try_(rendered)
            attempt.set(ARITHMETIC, expression)
            return attempt
        case Compare(op=op, left=left, right=right):
            return exp.Paren(
                this=_COMPARISONS[op](
                    this=_untyped_operand(left, right), expression=_untyped_operand(right, left)
                )
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
            return exp.Paren(
                this=exp.In(
                    this=emit_expression(operand),
                    expressions=[_untyped_operand(value, operand) for value in values],
                )
            )
        case Case(branches=branches, otherwise=otherwise):
            case_when = exp.case()
            for branch in branches:
                case_when = case_when.when(
                    emit_expression(branch.condition), emit_expression(branch.result), copy=False
                )
            return case_when.else_(emit_expression(otherwise), copy=False)
        case Cast(operand=operand, type=Varchar()) if isinstance(operand.type, Double):
            return printed(emit_expression(operand), operand.type)
        case Cast(operand=operand, type=target):
            return try_cast(emit_expression(operand), target)
        case Call(arguments=arguments):
            return emit_call(expression, [emit_expression(a) for a in arguments])
        case missing:
            assert_never(missing)


def unchecked(
    expression: Expression, operand: Callable[[Expression], exp.Expr] = emit_expression
) -> exp.Expr:
    """Nested arithmetic without a TRY of its own: NULL in any part is NULL in the whole.

    `operand` renders what isn't arithmetic.
    """
    if not isinstance(expression, Arithmetic):
        return operand(expression)
    left, right = unchecked(expression.left, operand), unchecked(expression.right, operand)
    return applied(expression, left, right)


def applied(expression: Arithmetic, left: exp.Expr, right: exp.Expr) -> exp.Expr:
    """The operator of `expression` on its operands, as they are written."""
    if isinstance(expression.left, Arithmetic):
        left = exp.Paren(this=left)
    if isinstance(expression.right, Arithmetic):
        right = exp.Paren(this=right)
    if expression.op is ArithmeticOperator.DIVIDE:
        # 1 / 0 is infinite, 0 / 0 is NaN; neither is a value.
        if not isinstance(expression.right, Column | Literal):
            # DuckDB's NULLIF writes its operand twice: a nest of quotients would never end.
            return finite(exp.Div(this=left, expression=right))
        right = exp.Nullif(this=right, expression=integer(0))
    return _ARITHMETIC[expression.op](this=left, expression=right)


def is_nan(expression: exp.Expr) -> exp.Expr:
    """NaN, which is no value: it would poison every sum it is in."""
    return exp.Anonymous(this="isnan", expressions=[expression])


def _untyped_operand(operand: Expression, other: Expression) -> exp.Expr:
    """`operand` of a comparison, without a cast where `other` says what type it is of."""
    if isinstance(operand, Parameter) and operand.type == other.type:
        return parameter_mark(operand.number, is_typed=False)
    if isinstance(other, Literal) or not isinstance(operand, Literal):
        return emit_expression(operand)
    constant = untyped_literal if operand.type == other.type else emit_literal
    return constant(operand.value, operand.type)


def _unknown(operand: Expression) -> exp.Expr:
    rendered = emit_expression(operand)
    return rendered if isinstance(operand, Literal) else unknown(rendered)


def is_wide(expression: Expression) -> bool:
    """Integers of 128 bits are in it: DuckDB subtracts the ends of their statistics unchecked."""
    if isinstance(expression, Arithmetic):
        return is_wide(expression.left) or is_wide(expression.right)
    return isinstance(expression.type, Integer) and expression.type.bits == 128


def _can_overflow(expression: Expression) -> bool:
    if not isinstance(expression, Arithmetic):
        return False
    return (
        not isinstance(expression.type, Double)
        or _can_overflow(expression.left)
        or _can_overflow(expression.right)
    )
