"""The type that values of several types are converted to, as DuckDB chooses it."""

from __future__ import annotations

from dpsql.plan.expression import Expression
from dpsql.plan.numeric_types import (
    arithmetic_type,
    as_decimal,
    common_decimal,
    float_type,
    is_fitted,
    is_number,
)
from dpsql.schema.sql_type import (
    BIGINT,
    HUGEINT,
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

__all__ = [
    "COUNT_TYPE",
    "adapted",
    "arithmetic_type",
    "common_type",
    "is_comparable",
    "is_number",
    "sum_type",
]


def adapted(expressions: list[Expression]) -> list[SqlType]:
    """The expressions' types, where whole numbers take the type of the other integers.

    `tiny + 1` is a TINYINT and `tiny + 1000` an INTEGER: DuckDB fits a number into the other
    operands' type if it can. `tiny + length('x')` is a BIGINT, since the engine is given a constant
    of the type that the call has: as a TINYINT, 128 would be outside of what is proved of it.
    """
    others = [e.type for e in expressions if not is_fitted(e, HUGEINT)]
    others_type = common_type(others)
    if not isinstance(others_type, Integer):
        return [e.type for e in expressions]
    return [others_type if is_fitted(e, others_type) else e.type for e in expressions]


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
        case (Boolean(), Integer() as whole) | (Integer() as whole, Boolean()):
            return whole
        case _ if isinstance(left, Double) or isinstance(right, Double):
            return float_type(left, right) if is_number(left) and is_number(right) else None
        case Decimal(), Decimal():
            return common_decimal(left, right)
        case ((Integer() | Decimal()), (Integer() | Decimal())):
            # A HUGEINT takes no digit away from the scale: some of its values don't fit then.
            a, b = as_decimal(left), as_decimal(right)
            scale = max(a.scale, b.scale)
            digits = max(a.precision - a.scale, b.precision - b.scale)
            return Decimal(min(38, digits + scale), scale)
        case (Date(), Timestamp()) | (Timestamp(), Date()):
            return Timestamp()
        case _:
            return None


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
    """Whether values of type `kind` compare without raising."""
    return isinstance(
        kind, Boolean | Integer | Decimal | Double | Varchar | Date | Timestamp | Uuid | Null
    )


COUNT_TYPE = BIGINT
"""The type of count()."""
