"""SQL types as Arrow types, and canonical values as Arrow's.

A canonical value is one that a domain may list: an exact number, text, a boolean, a date or a
timestamp.
"""

from __future__ import annotations

import datetime as dt
import decimal
import sys
from collections.abc import Iterable
from contextlib import suppress
from fractions import Fraction
from typing import assert_never

import pyarrow as pa

from dpsql.privacy.domain import Value
from dpsql.schema.sql_type import (
    Array,
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

_EXACT = decimal.Context(prec=80)
_LARGEST = sys.float_info.max
_LARGEST_FLOAT = float(2**128 - 2**104)


def arrow_type(kind: SqlType) -> pa.DataType:
    """The Arrow type that holds values of `kind`; 128-bit integers are decimals of scale 0."""
    match kind:
        case Boolean():
            return pa.bool_()
        case Integer(bits=128):
            return pa.decimal128(38, 0)
        case Integer(bits=bits, signed=signed):
            return getattr(pa, f"{'' if signed else 'u'}int{bits}")()
        case Decimal(precision=precision, scale=scale):
            return pa.decimal128(precision, scale)
        case Double(bits=bits):
            return pa.float64() if bits == 64 else pa.float32()
        case Varchar() | Uuid():
            return pa.string()
        case Date():
            return pa.date32()
        case Timestamp():
            return pa.timestamp("us")
        case Interval():
            return pa.month_day_nano_interval()
        case Array(of=of):
            return pa.list_(arrow_type(of))
        case Null():
            return pa.null()
        case missing:
            assert_never(missing)


def arrow_array(values: Iterable[Value | None], kind: SqlType) -> pa.Array:
    """`values` as an array of `kind`'s Arrow type; numbers beyond its range become its ends."""
    listed = list(values)
    if isinstance(kind, Varchar | Date) or (isinstance(kind, Integer) and kind.bits < 128):
        # Most values are what pyarrow takes; it says so where they aren't.
        with suppress(pa.ArrowException, OverflowError):
            return pa.array(listed, arrow_type(kind))
    return pa.array([arrow_value(value, kind) for value in listed], arrow_type(kind))


def rows(table: pa.Table) -> tuple[tuple[Value | None, ...], ...]:
    """The rows of a table as canonical values."""
    return tuple(zip(*map(_listed, table.columns), strict=True))


def _listed(column: pa.ChunkedArray) -> Iterable[Value | None]:
    kind, python_values = column.type, column.to_pylist()
    # Of a million rows a look at each value takes seconds.
    as_it_is = pa.types.is_integer(kind) or pa.types.is_string(kind) or pa.types.is_date32(kind)
    return python_values if as_it_is else map(canonical, python_values)


def canonical(value: object) -> Value | None:
    """The canonical form of a Python value from pyarrow.

    Raises TypeError for a type that no domain has.
    """
    match value:
        case None | bool() | int() | str() | dt.date():
            return value
        case decimal.Decimal() | float():
            return Fraction(value)
        case other:
            raise TypeError(f"{type(other).__name__} has no canonical form")


def arrow_value(value: Value | None, kind: SqlType) -> object:
    """The Python value that pyarrow converts to `kind`, of a canonical value.

    Numbers beyond the range of `kind` become its ends. Raises TypeError for a number type and a
    value that is no number.
    """
    if value is None or isinstance(value, bool):
        return value
    match kind:
        case Integer(bits=128):
            return _decimal(Fraction(_number(value)), 38, 0)
        case Integer(bits=bits, signed=signed):
            low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
            return min(max(int(_number(value)), low), high)
        case Decimal(precision=precision, scale=scale):
            return _decimal(Fraction(_number(value)), precision, scale)
        case Double(bits=bits):
            return _double(Fraction(_number(value)), _LARGEST if bits == 64 else _LARGEST_FLOAT)
        case _:
            return value


def _number(value: Value) -> int | Fraction:
    if not isinstance(value, int | Fraction):
        raise TypeError(f"{type(value).__name__} isn't a number")
    return value


def _double(value: Fraction, largest: float) -> float:
    return float(min(max(value, -Fraction(largest)), Fraction(largest)))


def _decimal(value: Fraction, precision: int, scale: int) -> decimal.Decimal:
    limit = 10**precision - 1
    scaled = min(max(round(value * 10**scale), -limit), limit)
    return decimal.Decimal(scaled).scaleb(-scale, _EXACT)
