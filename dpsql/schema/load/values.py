"""Reads the values of a domain from the file into the canonical form of the column's type."""

from __future__ import annotations

import datetime as dt
import decimal
import struct
import sys
from collections.abc import Sequence
from fractions import Fraction
from typing import Final, assert_never

from dpsql.schema.load.yaml_document import Document, DocumentPath
from dpsql.schema.model import Value
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

_LARGEST: Final = {32: (2 - Fraction(1, 2**23)) * 2**127, 64: Fraction(sys.float_info.max)}


def read_bounds(
    document: Document, path: DocumentPath, kind: SqlType, written: Sequence[object]
) -> tuple[Value, Value]:
    """Read an inclusive interval [low, high] of numbers, dates or timestamps; else SchemaFault."""
    if not isinstance(kind, Integer | Decimal | Double | Date | Timestamp):
        raise document.error(path, f"{kind} takes no bounds", "list its values instead, or nothing")
    if len(written) != 2:
        raise document.error(path, "not two bounds", "write [low, high]")
    low, high = (
        _read(document, (*path, index), kind, value) for index, value in enumerate(written)
    )
    if low > high:  # type: ignore[operator]  # both are of the column's type
        raise document.error(
            path, f"low {written[0]} is above high {written[1]}", "write the lower one first"
        )
    return low, high


def read_values(
    document: Document, path: DocumentPath, kind: SqlType, written: Sequence[object]
) -> tuple[Value, ...]:
    """Read a finite set; a value that is listed twice would be answered twice for one charge."""
    if isinstance(kind, Interval | Uuid | Array | Null):
        raise document.error(path, f"{kind} takes no values", "leave them out")
    if not written:
        raise document.error(path, "an empty list of values", "list them, or leave values out")
    if isinstance(kind, Varchar) and _are_texts(written):
        return tuple(map(str, written))
    seen: dict[object, int] = {}
    values = []
    for index, each in enumerate(written):
        if each is None:
            raise document.error(
                (*path, index), "NULL is not listed", "it is a key of every nullable column"
            )
        value = _read(document, (*path, index), kind, each)
        first = seen.setdefault(_identity(kind, value), index)
        if first != index:
            raise document.error(
                (*path, index), f"the same value as [{first}]", "remove one of them"
            )
        values.append(value)
    return tuple(values)


def _are_texts(written: Sequence[object]) -> bool:
    """Whether all are different texts that a column may hold: fast, for a million of them."""
    return all(type(each) is str and "\0" not in each for each in written) and (
        len(set(written)) == len(written)
    )


def _read(document: Document, path: DocumentPath, kind: SqlType, written: object) -> Value:
    try:
        value = _canonical(kind, written)
    except ValueError as error:
        fix = f"write {error}"
    else:
        if value is not None:
            return value
        fix = f"write {_EXAMPLES[type(kind)]}"
    raise document.error(path, f"{written!s:.60} is not a value of {kind}", fix)


def _canonical(kind: SqlType, written: object) -> Value | None:
    """The canonical Python value for `written`; None if it is no value of the type.

    Raises ValueError, whose text is what to write, if it is out of range.
    """
    match kind:
        case Boolean():
            return written if isinstance(written, bool) else None
        case Integer():
            return _integer(kind, written)
        case Decimal():
            return _decimal(kind, written)
        case Double():
            number = _number(written)
            return number if number is not None and abs(number) <= _LARGEST[kind.bits] else None
        case Varchar():
            return written if isinstance(written, str) and "\0" not in written else None
        case Date():
            return _date(written)
        case Timestamp():
            return _timestamp(written)
        case Interval() | Uuid() | Array() | Null():
            return None
        case missing:
            assert_never(missing)


def _number(written: object) -> Fraction | None:
    if isinstance(written, bool) or not isinstance(written, int | decimal.Decimal):
        return None
    if isinstance(written, decimal.Decimal) and not written.is_finite():
        raise ValueError("a finite number")
    return Fraction(written)


def _integer(kind: Integer, written: object) -> int | None:
    number = written if type(written) is int else _number(written)
    if number is None or number.denominator != 1:
        return None
    low = -(2 ** (kind.bits - 1)) if kind.signed else 0
    high = low + 2**kind.bits - 1
    if not low <= number <= high:
        raise ValueError(f"a number from {low} to {high}")
    return int(number)


def _decimal(kind: Decimal, written: object) -> Fraction | None:
    number = _number(written)
    if number is None:
        return None
    scaled = number * 10**kind.scale
    if scaled.denominator != 1:
        raise ValueError(f"at most {kind.scale} digits after the point")
    if abs(scaled) >= 10**kind.precision:
        raise ValueError(f"at most {kind.precision - kind.scale} digits before the point")
    return number


def _date(written: object) -> dt.date | None:
    if isinstance(written, dt.datetime):
        return None
    if isinstance(written, str):
        try:
            return dt.date.fromisoformat(written)
        except ValueError:
            return None
    return written if isinstance(written, dt.date) else None


def _timestamp(written: object) -> dt.datetime | None:
    if isinstance(written, str):
        try:
            written = dt.datetime.fromisoformat(written)
        except ValueError:
            return None
    if isinstance(written, dt.datetime):
        return written if written.tzinfo is None else None
    if isinstance(written, dt.date):
        return dt.datetime.combine(written, dt.time())
    return None


def _identity(kind: SqlType, value: Value) -> object:
    """Equal where the engine's values are equal: 0.1 and 0.1000000000000000055 are one double."""
    if not isinstance(kind, Double):
        return value
    return struct.pack("f" if kind.bits == 32 else "d", float(value))  # type: ignore[arg-type]


_EXAMPLES: Final[dict[type, str]] = {
    Boolean: "true or false",
    Integer: "a whole number",
    Decimal: "a number such as 0.05",
    Double: "a number such as 0.05",
    Varchar: "a text, in quotes if it looks like a number",
    Date: "a day such as 2024-01-31",
    Timestamp: "a moment such as 2024-01-31 12:00:00, without time zone",
}
