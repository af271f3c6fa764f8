"""Constants as DuckDB SQL, of exactly the type that the plan gives them.

Parsing a constant in a cast takes four times as long as parsing the constant.
"""

from __future__ import annotations

import datetime as dt
from fractions import Fraction
from typing import Final

from sqlglot import exp

from dpsql.emit.dialect.duckdb.function_call import cast
from dpsql.plan.duration import Duration
from dpsql.plan.expression_text import describe_number
from dpsql.schema.sql_type import Decimal, Double, Integer, Interval, Null, SqlType, Uuid

_NARROW: Final = 18
"""Digits of a decimal in 64 bits; DuckDB reads a number of more than 38 as a double."""


def emit_literal(value: object, kind: SqlType) -> exp.Expr:
    """A constant of exactly the type `kind`."""
    match value:
        case None if isinstance(kind, Null):
            return exp.null()
        case None:
            return cast(exp.null(), str(kind))
        case bool():
            return exp.true() if value else exp.false()
        case int() if kind == _integer_of(value):
            return _number(str(value))
        case int() | Fraction() if isinstance(kind, Double):
            return cast(exp.Literal.string(repr(float(value))), str(kind))
        case int() | Fraction():
            text = describe_number(Fraction(value))
            return cast(exp.Literal.string(text), str(kind))
        case str() if isinstance(kind, Interval):
            length = Duration.read(value)
            shown = exp.Literal.string(value if length is None else length.describe())
            return cast(shown, "INTERVAL")
        case str() if isinstance(kind, Uuid):
            return cast(exp.Literal.string(value), "UUID")
        case str():
            return exp.Literal.string(value)
        case dt.datetime():
            text = value.isoformat(sep=" ")
            return cast(exp.Literal.string(text), "TIMESTAMP")
        case dt.date():
            return cast(exp.Literal.string(value.isoformat()), "DATE")
        case other:
            raise TypeError(f"no literal for {type(other).__name__}")


def untyped_literal(value: object, kind: SqlType) -> exp.Expr:
    """A constant compared with, or chosen beside, an expression of its very type `kind`.

    There DuckDB gives a plain number that fits the expression's type, and a decimal of as many
    digits after the point is compared as it is.
    """
    match value, kind:
        case bool(), _:
            return emit_literal(value, kind)
        case int(), Integer() if value >= 0 and isinstance(_integer_of(value), Integer):
            return _number(str(value))
        case ((int() | Fraction()), Decimal(scale=scale)) if scale:
            text = _with_point(Fraction(value), scale)
            if sum(map(str.isdigit, text)) <= min(_NARROW, kind.precision):
                return _number(text)
    return emit_literal(value, kind)


def _with_point(value: Fraction, scale: int) -> str:
    """`value`, which has so many digits after the point at most, with all of them."""
    digits = str(abs(int(value * 10**scale))).rjust(scale + 1, "0")
    sign = "-" if value < 0 else ""
    return f"{sign}{digits[:-scale]}.{digits[-scale:]}"


def _integer_of(value: int) -> SqlType:
    """The type that DuckDB gives an integer literal."""
    for bits in (32, 64, 128):
        if -(2 ** (bits - 1)) <= value < 2 ** (bits - 1):
            return Integer(bits)
    return Decimal(38, 0)


def _number(text: str) -> exp.Expr:
    """A numeric literal; a minus sign is an operator in SQL, so it is kept in parentheses."""
    if text.startswith("-"):
        return exp.Paren(this=exp.Neg(this=exp.Literal.number(text[1:])))
    return exp.Literal.number(text)
