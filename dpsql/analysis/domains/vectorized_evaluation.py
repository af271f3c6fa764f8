"""Values of expressions over lists of their columns' values, one value for each row.

The engine computes functions and casts, as expressions of constants. Values are those of an
expression's total form, which is NULL where the expression would raise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import assert_never

from dpsql.engine.duckdb.constant_evaluation import Template
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
    Scalar,
)
from dpsql.plan.functions import FUNCTIONS
from dpsql.plan.functions.evaluation import Operand, cast, evaluated
from dpsql.plan.numeric_types import holds
from dpsql.schema.sql_type import Boolean, Double, Integer, SqlType

Values = tuple[Scalar, ...]
ColumnValues = Mapping[int, Values]
"""The values of each column, by its id: one for each row, in the same order of rows."""

_NAMES = {Comparison.UNEQUAL: "!="}


def computed(expression: Expression, column_values: ColumnValues, rows: int) -> Values | None:
    """The values of `expression` in each of `rows` rows; None if the engine can't compute them."""
    match expression:
        case Literal(value=value):
            return (value,) * rows
        case Parameter():
            return None  # whatever it is, it is known only when the statement runs
        case Column(id=number):
            return column_values[number]
        case Arithmetic(left=left, right=right):
            sides = _all_values((left, right), column_values, rows)
            return None if sides is None else arithmetic(expression, *sides)
        case Compare(op=comparison, left=left, right=right):
            name = _NAMES.get(comparison, comparison.value)
            return _called((name, 0, 1), (left, right), Boolean(), column_values, rows)
        case And(operands=operands):
            return _rowwise(_all, operands, column_values, rows)
        case Or(operands=operands):
            return _rowwise(_any, operands, column_values, rows)
        case Not(operand=operand):
            return _rowwise(
                lambda truth: None if truth is None else not truth, (operand,), column_values, rows
            )
        case IsNull(operand=operand):
            return _rowwise(lambda value: value is None, (operand,), column_values, rows)
        case InList(operand=operand, values=among):
            return _rowwise(_in, (operand, *among), column_values, rows)
        case Case(branches=branches, otherwise=otherwise):
            parts = [part for b in branches for part in (b.condition, b.result)]
            return _rowwise(_first, (*parts, otherwise), column_values, rows)
        case Cast(operand=operand, type=target):
            before = computed(operand, column_values, rows)
            return None if before is None else cast(before, operand.type, target)
        case Call(function=function, arguments=arguments):
            entry = FUNCTIONS[function]
            called = entry.template(len(arguments))
            return _called(called, arguments, expression.type, column_values, rows)
        case missing:
            assert_never(missing)


def arithmetic(expression: Arithmetic, left: Values, right: Values) -> Values | None:
    """The operator's values for pairs of operands, NULL where it overflows or divides by zero.

    Python computes integers, and doubles, as its floats are; the engine computes other types.
    The result is None if the engine can't.
    """
    kind, op = expression.type, expression.op
    match kind:
        case Integer() if all(isinstance(t, Integer) for t in _sides(expression)):
            return tuple(_whole(op, a, b, kind) for a, b in zip(left, right, strict=True))
        case Double(bits=64):
            return tuple(_float(op, a, b) for a, b in zip(left, right, strict=True))
        case _:
            operands = tuple(map(Operand, (left, right), _sides(expression)))
            return evaluated((op.value, 0, 1), operands, kind, len(left))


def _sides(expression: Arithmetic) -> tuple[SqlType, SqlType]:
    return expression.left.type, expression.right.type


def _whole(op: ArithmeticOperator, left: Scalar, right: Scalar, kind: Integer) -> int | None:
    if not isinstance(left, int) or not isinstance(right, int):
        return None
    match op:
        case ArithmeticOperator.ADD:
            number = left + right
        case ArithmeticOperator.SUBTRACT:
            number = left - right
        case ArithmeticOperator.MULTIPLY:
            number = left * right
        case ArithmeticOperator.DIVIDE:
            # Quotients are floats, whatever the operands.
            return None
    return number if holds(kind, number) else None


def _float(op: ArithmeticOperator, left: Scalar, right: Scalar) -> Fraction | None:
    if not isinstance(left, int | Fraction) or not isinstance(right, int | Fraction):
        return None
    try:
        a, b = float(left), float(right)
        match op:
            case ArithmeticOperator.ADD:
                number = a + b
            case ArithmeticOperator.SUBTRACT:
                number = a - b
            case ArithmeticOperator.MULTIPLY:
                number = a * b
            case ArithmeticOperator.DIVIDE:
                number = a / b
    except (ZeroDivisionError, OverflowError):
        return None
    return Fraction(number) if math.isfinite(number) else None


def _called(
    template: Template,
    operands: tuple[Expression, ...],
    kind: SqlType,
    column_values: ColumnValues,
    rows: int,
) -> Values | None:
    columns = _all_values(operands, column_values, rows)
    if columns is None:
        return None
    typed = tuple(Operand(c, o.type) for c, o in zip(columns, operands, strict=True))
    return evaluated(template, typed, kind, rows)


def _rowwise(
    rule: Callable[..., Scalar],
    operands: tuple[Expression, ...],
    column_values: ColumnValues,
    rows: int,
) -> Values | None:
    columns = _all_values(operands, column_values, rows)
    return None if columns is None else tuple(map(rule, *columns))


def _all_values(
    operands: tuple[Expression, ...], column_values: ColumnValues, rows: int
) -> tuple[Values, ...] | None:
    columns = [computed(operand, column_values, rows) for operand in operands]
    known = tuple(column for column in columns if column is not None)
    return known if len(known) == len(columns) else None


def _all(*truths: Scalar) -> Scalar:
    return False if False in truths else None if None in truths else True


def _any(*truths: Scalar) -> Scalar:
    return True if True in truths else None if None in truths else False


def _in(value: Scalar, *among: Scalar) -> Scalar:
    return None if value is None else _any(*(None if a is None else a == value for a in among))


def _first(*parts: Scalar) -> Scalar:
    """The value of a CASE, whose conditions and results alternate before the result of ELSE."""
    conditions, results = parts[:-1:2], parts[1::2]
    holding = (result for truth, result in zip(conditions, results, strict=True) if truth)
    return next(holding, parts[-1])
