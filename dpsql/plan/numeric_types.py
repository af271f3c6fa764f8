"""Types of numbers, and the types of operators' results: DuckDB's rules, tested against its own."""

from __future__ import annotations

from dpsql.plan.expression import ArithmeticOperator, Expression, Literal
from dpsql.schema.sql_type import BIGINT, HUGEINT, Decimal, Double, Integer, SqlType

_DIGITS = {8: 3, 16: 5, 32: 10, 64: 19, 128: 38}
_UNSIGNED_DIGITS = {8: 3, 16: 5, 32: 10, 64: 20, 128: 38}


def is_number(kind: SqlType) -> bool:
    """`kind` is an integer, a decimal or a float type."""
    return isinstance(kind, Integer | Decimal | Double)


def holds(kind: Integer, value: int) -> bool:
    """`value` is in the range of `kind`."""
    if kind.signed:
        return -(1 << kind.bits - 1) <= value < 1 << kind.bits - 1
    return 0 <= value < 1 << kind.bits


def whole_number_type(value: int) -> Integer | None:
    """The type that DuckDB gives a whole number where nothing else says one; None: it's a float."""
    return next((Integer(bits) for bits in (32, 64, 128) if holds(Integer(bits), value)), None)


def is_fitted(expression: Expression, kind: Integer) -> bool:
    """Whether DuckDB fits a constant into the type `kind` that it meets.

    A whole number as it is written; one of another type, as `length('x')` is, keeps its type.
    """
    return (
        isinstance(expression, Literal)
        and isinstance(expression.value, int)
        and expression.type == whole_number_type(expression.value)
        and holds(kind, expression.value)
    )


def as_decimal(kind: Integer | Decimal) -> Decimal:
    """The decimal type that holds every value of `kind`, or the widest one."""
    if isinstance(kind, Decimal):
        return kind
    return Decimal((_DIGITS if kind.signed else _UNSIGNED_DIGITS)[kind.bits], 0)


def arithmetic_type(op: ArithmeticOperator, left: SqlType, right: SqlType) -> SqlType | None:
    """The type of `left op right`; None if there is no such operator."""
    if not (is_number(left) and is_number(right)):
        return None
    if isinstance(left, Double) or isinstance(right, Double):
        return float_type(left, right)
    if op is ArithmeticOperator.DIVIDE:
        return Double()
    if isinstance(left, Integer) and isinstance(right, Integer):
        return integer_type(left, right)
    assert isinstance(left, Integer | Decimal)
    assert isinstance(right, Integer | Decimal)
    return _decimal_arithmetic(op, as_decimal(left), as_decimal(right))


def float_type(*kinds: SqlType) -> Double:
    """The type of an operator of which an operand is a float: FLOAT unless one is DOUBLE."""
    return Double() if Double() in kinds else Double(32)


def integer_type(left: Integer, right: Integer) -> Integer | Double:
    """The type of an operator on two integers; for mixed signs there are no narrow types."""
    if left.signed == right.signed:
        return Integer(max(left.bits, right.bits), left.signed)
    signed, unsigned = (left, right) if left.signed else (right, left)
    if signed.bits > unsigned.bits:
        return signed
    if unsigned.bits == 128:
        return Double()
    return HUGEINT if unsigned.bits == 64 else BIGINT


def common_decimal(left: Decimal, right: Decimal) -> Decimal:
    """The decimal with both numbers' digits before the point, and with as many after it as fit."""
    whole = _whole(left, right)
    scale = min(max(left.scale, right.scale), 38 - whole)
    return Decimal(whole + scale, scale)


def remainder_type(left: SqlType, right: SqlType) -> SqlType | None:
    """The type of `left % right`; None if there is no such operator."""
    if isinstance(left, Double) or isinstance(right, Double):
        return float_type(left, right) if is_number(left) and is_number(right) else None
    if isinstance(left, Integer) and isinstance(right, Integer):
        return integer_type(left, right)
    if isinstance(left, Integer | Decimal) and isinstance(right, Integer | Decimal):
        a, b = as_decimal(left), as_decimal(right)
        scale = max(a.scale, b.scale)
        digits = _whole(a, b) + scale
        return Decimal(digits, scale) if digits <= 38 else Double()
    return None


def quotient_type(left: SqlType, right: SqlType) -> SqlType | None:
    """The type of `left // right`; None if there is no such operator."""
    if isinstance(left, Integer) and isinstance(right, Integer):
        return integer_type(left, right)
    return arithmetic_type(ArithmeticOperator.DIVIDE, left, right)


def _decimal_arithmetic(op: ArithmeticOperator, left: Decimal, right: Decimal) -> SqlType | None:
    if op is ArithmeticOperator.MULTIPLY:
        precision, scale = left.precision + right.precision, left.scale + right.scale
        if scale > 38:
            return None
        if precision > 18 and max(left.precision, right.precision) <= 18 and scale < 18:
            return Decimal(18, scale)
        return Decimal(min(precision, 38), scale)
    scale = max(left.scale, right.scale)
    return Decimal(min(scale + _whole(left, right) + 1, 38), scale)


def _whole(left: Decimal, right: Decimal) -> int:
    """The larger number of digits before the point."""
    return max(left.precision - left.scale, right.precision - right.scale)
