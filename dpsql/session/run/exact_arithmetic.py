"""Arithmetic of few released numbers without an engine, where its result is beyond doubt.

revenue / nullif(total, 0), of sums that are DECIMAL(38,4)

Decimals are the integers that the engine computes with, and doubles are rounded as it rounds them.
What overflows and what is no finite number is its own matter: of such values nothing is computed
here.

`analysis.domains.vectorized_evaluation` is another arithmetic, and stays one: it is of the values
that private columns may have, as fractions, and has to know each result, from which bounds are
proved: NULL where it overflows. Decimals it leaves to an engine, which is asked once for a shape.
Here an answer waits for a few numbers, and a result that is in doubt is left out.
"""

from __future__ import annotations

import decimal
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import isfinite
from operator import add, mul, sub
from typing import Final, TypeAlias

import pyarrow as pa

from dpsql.plan.expression import Arithmetic, ArithmeticOperator, Column, Expression, Literal
from dpsql.plan.numeric_types import as_decimal, holds
from dpsql.release.columns.arrow import arrow_type
from dpsql.schema.sql_type import HUGEINT, UHUGEINT, Decimal, Double, Integer, SqlType

MAX_COMPUTED: Final = 200
"""Rows that are computed here; of more the engine computes sooner."""

_EXACT: Final = decimal.Context(prec=80)

_MAX_SCALE: Final = 28
"""Digits after the point of a divisor: of more, the last are lost where it is compared with 0."""

_Number: TypeAlias = int | float | None
"""A double, or an integer: of a decimal, its digits; None is NULL."""

_OPERATORS: Final[Mapping[ArithmeticOperator, Callable[[float, float], float]]] = {
    ArithmeticOperator.ADD: add,
    ArithmeticOperator.SUBTRACT: sub,
    ArithmeticOperator.MULTIPLY: mul,
}


class _LeftToTheEngineError(Exception):
    """A value on which the engine has the say."""


def is_exact(expression: Expression) -> bool:
    """Whether `expression` is arithmetic that is computed here, unless its values forbid it."""
    return isinstance(expression, Arithmetic) and _is_number(expression)


def exact_arithmetic(
    expression: Expression, columns: Mapping[str, pa.Array], rows: int
) -> pa.Array | None:
    """The values of `expression` in each of so many `rows`, whose `columns` have names.

    None if they are many, or one of them is left to the engine.
    """
    if rows > MAX_COMPUTED:
        return None
    try:
        return _array(_values(expression, columns, rows), expression.type)
    except _LeftToTheEngineError:
        return None


def _is_number(expression: Expression) -> bool:
    match expression:
        case Column(type=kind):
            return _is_computed(kind)
        case Literal(value=int() | Fraction(), type=kind):
            return _is_computed(kind)
        case Arithmetic(left=left, right=right, type=kind):
            return _is_computed(kind) and _is_number(left) and _is_number(right)
        case _:
            return False


def _is_computed(kind: SqlType) -> bool:
    match kind:
        case Decimal():
            return True
        case Integer():
            return kind != UHUGEINT
        case Double(bits=bits):
            return bits == 64
        case _:
            return False


def _values(
    expression: Expression, columns: Mapping[str, pa.Array], rows: int
) -> Sequence[_Number]:
    match expression:
        case Column(id=number, type=kind):
            return [_read(value, kind) for value in columns[f"c{number}"].to_pylist()]
        case Literal(value=int() | Fraction() as value, type=kind):
            return [_constant(value, kind)] * rows
        case Arithmetic(left=left, right=right):
            operands = (_values(one, columns, rows) for one in (left, right))
            pairs = zip(*operands, strict=True)
            return [
                None if a is None or b is None else _computed(expression, a, b) for a, b in pairs
            ]
        case _:
            raise _LeftToTheEngineError


def _read(value: object, kind: SqlType) -> _Number:
    match value:
        case None:
            return None
        case int():
            return value
        case decimal.Decimal():
            return int(value.scaleb(_scale(kind), _EXACT))
        case float():
            return _checked(value, kind)
        case _:
            raise _LeftToTheEngineError


def _constant(value: int | Fraction, kind: SqlType) -> _Number:
    if isinstance(kind, Double):
        return float(value)
    digits = Fraction(value) * 10 ** _scale(kind)
    if digits.denominator != 1:
        raise _LeftToTheEngineError
    return _checked(digits.numerator, kind)


def _computed(expression: Arithmetic, a: float, b: float) -> _Number:
    """The value of `expression` whose operands are `a` and `b`."""
    op, kind = expression.op, expression.type
    left, right = expression.left.type, expression.right.type
    if isinstance(kind, Double):
        first, second = _double(a, left), _double(b, right)
        if op is not ArithmeticOperator.DIVIDE:
            return _checked(_OPERATORS[op](first, second), kind)
        if _scale(right) > _MAX_SCALE:
            raise _LeftToTheEngineError
        return _checked(first / second, kind) if second else None
    if not (isinstance(a, int) and isinstance(b, int)) or op is ArithmeticOperator.DIVIDE:
        raise _LeftToTheEngineError
    if op is not ArithmeticOperator.MULTIPLY:
        a, b = _rescaled(a, left, kind), _rescaled(b, right, kind)
    elif _scale(kind) != _scale(left) + _scale(right):
        raise _LeftToTheEngineError
    return _checked(_OPERATORS[op](a, b), kind)


def _rescaled(digits: int, kind: SqlType, wider: SqlType) -> int:
    """The digits of the same number in a type with as many after the point, or more."""
    more = _scale(wider) - _scale(kind)
    if more < 0:
        raise _LeftToTheEngineError
    return int(_checked(digits * 10**more, wider))


def _double(value: float, kind: SqlType) -> float:
    """`value`, of type `kind`, as the nearest double: the engine rounds once, as Python does."""
    return value / 10 ** _scale(kind) if isinstance(value, int) else value


def _checked(value: float, kind: SqlType) -> int | float:
    """`value`, if `kind` has it, and it is finite."""
    match kind:
        case Double():
            there = isfinite(value)
        case Integer() | Decimal() if isinstance(value, int):
            there = abs(value) < 10 ** as_decimal(kind).precision
            if isinstance(kind, Integer):
                there = there and holds(kind, value)
        case _:
            there = False
    if not there:
        raise _LeftToTheEngineError
    return value


def _array(values: Sequence[_Number], kind: SqlType) -> pa.Array:
    if not isinstance(kind, Decimal) and kind != HUGEINT:
        return pa.array(values, arrow_type(kind))
    scale = -_scale(kind)
    exact = (None if one is None else decimal.Decimal(one).scaleb(scale, _EXACT) for one in values)
    return pa.array(list(exact), arrow_type(kind))


def _scale(kind: SqlType) -> int:
    """Digits after the point."""
    return kind.scale if isinstance(kind, Decimal) else 0
