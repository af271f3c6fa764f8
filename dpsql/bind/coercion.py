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
        floats = [t for t in (left, right) if isinstance(t, Double)]
        narrow = all(t.bits == 32 for t in floats) and op is not ArithmeticOperator.DIVIDE
        return Double(32) if narrow and len(floats) == 2 else Double()
    if op is ArithmeticOperator.DIVIDE:
        return Double()
    if isinstance(left, Integer) and isinstance(right, Integer):
        return common_type([left, right])
    assert isinstance(left, Integer | Decimal)
    assert isinstance(right, Integer | Decimal)
    return _decimal_arithmetic(op, as_decimal(left), as_decimal(right))


def _decimal_arithmetic(op: ArithmeticOperator, left: Decimal, right: Decimal) -> SqlType | None:
    widest = max(left.precision, right.precision)
    if op is ArithmeticOperator.MULTIPLY:
        precision, scale = left.precision + right.precision, left.scale + right.scale
        if scale > 38:
            return None
        if precision > 18 and widest <= 18 and scale < 18:
            return Decimal(18, scale)
        return Decimal(min(precision, 38), scale)
    scale = max(left.scale, right.scale)
    precision = scale + max(left.precision - left.scale, right.precision - right.scale) + 1
    if precision > 18 and widest <= 18 and scale < 18:
        return Decimal(18, scale)
    return Decimal(min(precision, 38), scale)


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
        case (Double(), _) if is_number(right):
            return Double(32) if right == Double(32) else Double()
        case (_, Double()) if is_number(left):
            return Double()
        case ((Integer() | Decimal()), (Integer() | Decimal())):
            a, b = as_decimal(left), as_decimal(right)
            scale = max(a.scale, b.scale)
            whole = max(a.precision - a.scale, b.precision - b.scale)
            return Decimal(min(38, whole + scale), scale)
        case (Date(), Timestamp()) | (Timestamp(), Date()):
            return Timestamp()
        case _:
            return None


def _common_integer(left: Integer, right: Integer) -> SqlType:
    if left.signed == right.signed:
        return Integer(max(left.bits, right.bits), left.signed)
    signed, unsigned = (left, right) if left.signed else (right, left)
    if signed.bits > unsigned.bits:
        return signed
    return Double() if unsigned.bits == 128 else Integer(unsigned.bits * 2)


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
