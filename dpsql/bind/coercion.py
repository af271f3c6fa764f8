"""DuckDB's rules for the types of operators, written down here and tested against DESCRIBE."""

from __future__ import annotations

from dpsql.plan.expression import ArithmeticOperator
from dpsql.schema.type import (
    BIGINT,
    HUGEINT,
    Boolean,
    Date,
    Decimal,
    Double,
    Integer,
    Interval,
    Null,
    SqlType,
    Timestamp,
    Uuid,
    Varchar,
)

_DIGITS = {8: 3, 16: 5, 32: 10, 64: 19, 128: 38}
_UNSIGNED_DIGITS = {8: 3, 16: 5, 32: 10, 64: 20, 128: 38}


def is_number(kind: SqlType) -> bool:
    """Integers, decimals and doubles."""
    return isinstance(kind, Integer | Decimal | Double)


def as_decimal(kind: Integer | Decimal) -> Decimal:
    """The decimal that holds every value of `kind`, as wide as there is one."""
    if isinstance(kind, Decimal):
        return kind
    return Decimal((_DIGITS if kind.signed else _UNSIGNED_DIGITS)[kind.bits], 0)


def arithmetic_type(op: ArithmeticOperator, left: SqlType, right: SqlType) -> SqlType | None:
    """The type of `left op right`, None if there is no such operator."""
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
    """The type of an operator one of whose operands is a float: FLOAT unless one is DOUBLE."""
    return Double() if Double() in kinds else Double(32)


def integer_type(left: Integer, right: Integer) -> SqlType:
    """The type of an operator on two integers; of mixed signs it skips the narrow types."""
    if left.signed == right.signed:
        return Integer(max(left.bits, right.bits), left.signed)
    signed, unsigned = (left, right) if left.signed else (right, left)
    if signed.bits > unsigned.bits:
        return signed
    return {64: HUGEINT, 128: Double()}.get(unsigned.bits, BIGINT)


def _decimal_arithmetic(op: ArithmeticOperator, left: Decimal, right: Decimal) -> SqlType | None:
    if op is ArithmeticOperator.MULTIPLY:
        precision, scale = left.precision + right.precision, left.scale + right.scale
        if scale > 38:
            return None
        if precision > 18 and max(left.precision, right.precision) <= 18 and scale < 18:
            return Decimal(18, scale)
        return Decimal(min(precision, 38), scale)
    whole = max(left.precision - left.scale, right.precision - right.scale)
    scale = max(left.scale, right.scale)
    return Decimal(min(scale + whole + 1, 38), scale)


def common_type(kinds: list[SqlType]) -> SqlType | None:
    """The type that values of all `kinds` are converted to, None if they don't mix."""
    merged: SqlType = Null()
    for kind in kinds:
        pair = _common(merged, kind)
        if pair is None:
            return None
        merged = pair
    return merged


def _common(left: SqlType, right: SqlType) -> SqlType | None:
    match left, right:
        case _ if left == right:
            return left
        case Null(), _:
            return right
        case _, Null():
            return left
        case Integer(), Integer():
            return _common_integer(left, right)
        case _ if isinstance(left, Double) or isinstance(right, Double):
            return float_type(left, right) if is_number(left) and is_number(right) else None
        case Decimal(), Decimal():
            return common_decimal(left, right)
        case (Decimal(scale=scale), Integer()) | (Integer(), Decimal(scale=scale)):
            # A HUGEINT takes no digit away from the scale: some of its values don't fit then.
            a, b = as_decimal(left), as_decimal(right)
            whole = max(a.precision - a.scale, b.precision - b.scale)
            return Decimal(min(38, whole + scale), scale)
        case (Date(), Timestamp()) | (Timestamp(), Date()):
            return Timestamp()
        case _:
            return None


def common_decimal(left: Decimal, right: Decimal) -> Decimal:
    """The decimal that holds the digits of both before the point, and what fits after it."""
    whole = max(left.precision - left.scale, right.precision - right.scale)
    scale = min(max(left.scale, right.scale), 38 - whole)
    return Decimal(whole + scale, scale)


def _common_integer(left: Integer, right: Integer) -> SqlType | None:
    if left.signed == right.signed:
        return Integer(max(left.bits, right.bits), left.signed)
    signed, unsigned = (left, right) if left.signed else (right, left)
    if signed.bits > unsigned.bits:
        return signed
    # DuckDB converts UHUGEINT to the type after the signed one, where few of its values fit.
    return None if unsigned.bits == 128 else Integer(unsigned.bits * 2)


def sum_type(kind: SqlType) -> SqlType | None:
    """The type of sum(x)."""
    match kind:
        case Integer() | Boolean():
            return HUGEINT
        case Decimal(scale=scale):
            return Decimal(38, scale)
        case Double():
            return Double()
        case _:
            return None


def is_comparable(kind: SqlType) -> bool:
    """Types whose values compare without raising."""
    return isinstance(
        kind, Boolean | Integer | Decimal | Double | Varchar | Date | Timestamp | Uuid | Null
    )


def is_constant_only(kind: SqlType) -> bool:
    """Intervals exist as constants; no column has them."""
    return isinstance(kind, Interval)


COUNT_TYPE = BIGINT
