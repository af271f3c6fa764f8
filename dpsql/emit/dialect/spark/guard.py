"""Types, casts and guards: what Spark would raise of a row becomes NULL before it is computed.

Each emitted expression is of exactly the type that `type_name` has for it. Spark converts operands
of several types by itself, and not exactly: `1 = 0.5` is true for DECIMAL(38,0) and DECIMAL(38,38).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Final

from sqlglot import exp

from dpsql.emit.sql.identifier import column_ref
from dpsql.errors import Refused
from dpsql.plan.expression_text import describe_number
from dpsql.schema.sql_type import (
    BIGINT,
    Boolean,
    Date,
    Decimal,
    Double,
    Integer,
    SqlType,
    Timestamp,
    Varchar,
)

WIDE: Final = 38
"""Digits of the widest decimal."""

_DIVISOR_DIGITS: Final = 19
"""Digits of a divisor: a number of rows, or a constant of a limit."""


def refused(name: str) -> Refused:
    """The refusal of what `name` names."""
    return Refused(
        f"{name} is not computed on Spark",
        hint="ask for it over a source in files, or keep it in a column of its own",
    )


def type_name(kind: SqlType) -> str:
    """Spark's type for values of `kind`; Refused for a type that isn't on the list."""
    match kind:
        case Boolean():
            return "BOOLEAN"
        case Integer(signed=False):
            raise refused(f"the type {kind}")
        case Integer() if Integer(32).holds(kind):
            return "INT"
        case Integer() if BIGINT.holds(kind):
            return "BIGINT"
        case Integer():
            # 38 digits: what lies between 10^38 and 2^127 is NULL.
            return decimal_name(WIDE, 0)
        case Decimal(precision=precision, scale=scale):
            return decimal_name(precision, scale)
        case Double(bits=64):
            return "DOUBLE"
        case Varchar():
            return "STRING"
        case Date():
            return "DATE"
        case Timestamp():
            return "TIMESTAMP_NTZ"
        case _:
            raise refused(f"the type {kind}")


def decimal_name(precision: int, scale: int) -> str:
    """Spark's type for decimals of so many digits, of which `scale` stand after the point."""
    return f"DECIMAL({precision},{scale})"


def digits(kind: Integer | Decimal) -> tuple[int, int]:
    """The digits before and after the point of a type's longest value."""
    match kind:
        case Decimal(precision=precision, scale=scale):
            return precision - scale, scale
        case Integer(bits=bits):
            return {32: 10, 64: 19}.get(max(bits, 32), WIDE), 0


def cast(expression: exp.Expr, name: str) -> exp.Expr:
    """`CAST(expression AS name)`, of what the type holds."""
    return exp.Cast(this=expression, to=exp.DataType(this=exp.DType.USERDEFINED, kind=name))


def try_cast(expression: exp.Expr, name: str) -> exp.Expr:
    """`TRY_CAST(expression AS name)`: NULL where the type has no such value."""
    return exp.TryCast(this=expression, to=exp.DataType(this=exp.DType.USERDEFINED, kind=name))


def call(name: str, *arguments: exp.Expr) -> exp.Expr:
    """A function of the writer's list."""
    return exp.Anonymous(this=name, expressions=list(arguments))


def exact(number: exp.Expr) -> exp.Expr:
    """An integer as a decimal of 38 digits."""
    return cast(number, decimal_name(WIDE, 0))


def as_decimal(number: exp.Expr, kind: Integer | Decimal) -> exp.Expr:
    """A number of the type `kind` as a decimal that holds all of them."""
    return number if isinstance(kind, Decimal) else cast(number, decimal_name(digits(kind)[0], 0))


def double(value: Fraction | float) -> exp.Expr:
    """A constant of type double."""
    return cast(exp.Literal.string(repr(float(value))), "DOUBLE")


def number(value: Fraction, kind: Decimal) -> exp.Expr:
    """A constant of the decimal type `kind`, which holds it."""
    return cast(exp.Literal.string(describe_number(value)), type_name(kind))


def in_range(value: exp.Expr, kind: Integer | Decimal) -> exp.Expr:
    """An exact number without more digits after the point than `kind`, as one of that type.

    NULL where the type has no such value.
    """
    if isinstance(kind, Integer) and kind.bits < 32:
        return cast(try_cast(value, {8: "TINYINT", 16: "SMALLINT"}[kind.bits]), "INT")
    return try_cast(value, type_name(kind))


def quotient(dividend: exp.Expr, divisor: exp.Expr) -> exp.Expr:
    """An integer quotient toward 0, of up to 29 digits, by an integer of up to 19.

    `div` would cut it to 64 bits without a word, and a decimal quotient is rounded: so the
    remainder is taken from the dividend first.
    """
    whole = exact(dividend)
    rest = call("TRY_MOD", whole.copy(), exact(divisor))
    multiple = exp.Paren(this=exp.Sub(this=whole, expression=rest))
    by = cast(divisor.copy(), decimal_name(_DIVISOR_DIGITS, 0))
    return exact(call("TRY_DIVIDE", multiple, by))


def bind(operand: exp.Expr, body: Callable[[exp.Expr], exp.Expr]) -> exp.Expr:
    """`body` of a name for `operand`, which is computed once.

    Otherwise a nest of expressions that name an operand twice would grow without end.
    """
    if isinstance(operand, exp.Column):
        return body(operand)
    bound = exp.Lambda(
        this=body(column_ref("b")), expressions=[exp.to_identifier("b")], colon=False
    )
    mapped = call("TRANSFORM", call("ARRAY", operand), bound)
    return call("ELEMENT_AT", mapped, exp.Literal.number(1))


def when_known(moment: exp.Expr, computed: exp.Expr) -> exp.Expr:
    """`computed` of a name `moment`; NULL where it, or its truncation, may be no timestamp.

    Its year is more than 290,000 away then, of which DuckDB has no timestamps, either.
    """
    return _when_between(moment, ("-290307-01-01", "294246-12-31"), computed)


def when_plain(moment: exp.Expr, computed: exp.Expr) -> exp.Expr:
    """`computed` of a name `moment`; NULL where it isn't in the years from 1 to 9999."""
    return _when_between(moment, ("0001-01-01", "9999-12-31"), computed)


def _when_between(moment: exp.Expr, days: tuple[str, str], computed: exp.Expr) -> exp.Expr:
    low, high = (cast(exp.Literal.string(day), "DATE") for day in days)
    day = cast(moment.copy(), "DATE")
    return exp.case().when(exp.Between(this=day, low=low, high=high), computed, copy=False)
