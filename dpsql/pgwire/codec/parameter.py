"""Parameters that a client binds → typed constants. An error never quotes a parameter's value."""

from __future__ import annotations

import datetime as dt
import re
import struct
from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from itertools import accumulate
from typing import Final

from msgspec import Struct

from dpsql.bind.syntax.parameter import literal
from dpsql.errors import DataError
from dpsql.pgwire.codec import oid as o
from dpsql.pgwire.codec.array import items
from dpsql.pgwire.codec.binary import EPOCH, EPOCH_MOMENT
from dpsql.pgwire.codec.text import array, written
from dpsql.plan.expression import Literal
from dpsql.schema.sql_type import Integer


class BadValue(DataError):
    """A parameter's bytes aren't a value of its type."""

    sqlstate = "22P02"


class Listed(Struct, frozen=True):
    """An array that a client binds: its items as constants, and the whole array as a text."""

    items: tuple[Literal, ...]
    text: Literal


class OutOfRange(DataError):
    """A parameter is a number that its type doesn't have."""

    sqlstate = "22003"


Bound = Literal | Listed
"""A parameter that a client binds: one constant, or an array."""

_NUMBERS: Final = {
    o.INT2: "!h",
    o.INT4: "!i",
    o.INT8: "!q",
    o.OID: "!I",
    o.FLOAT4: "!f",
    o.FLOAT8: "!d",
}

_INTEGERS: Final = {o.INT2: 16, o.INT4: 32, o.INT8: 64}

_BEFORE_ZONE: Final = re.compile(r"\s+(?=[+-]\d\d(?::?\d\d)?$)")
_DAY_IN_ZONE: Final = re.compile(r"(\d{4}-\d\d-\d\d)(Z|[+-]\d\d(?::?\d\d)?)")
_ESCAPE: Final = re.compile(r"\\([0-3][0-7]{2}|\\)")
_ESCAPED: Final = re.compile(rf"(?:[^\\]|{_ESCAPE.pattern})*", re.DOTALL)
_TRUE: Final = frozenset({"1", "on", *accumulate("true"), *accumulate("yes")})
_FALSE: Final = frozenset({"0", "of", "off", *accumulate("false"), *accumulate("no")})
"""Words, and how they begin."""

_EXAMPLES: Final[dict[int, object]] = {
    o.INT2: 1,
    o.INT4: 1,
    o.INT8: 1,
    o.OID: 1,
    o.FLOAT4: 1.0,
    o.FLOAT8: 1.0,
    o.NUMERIC: Decimal(1),
    o.BOOL: True,
    o.DATE: dt.date(2000, 1, 1),
    o.TIMESTAMP: EPOCH_MOMENT,
    o.TIMESTAMPTZ: EPOCH_MOMENT,
}


def constant(number: int, value: bytes | None, oid: int, binary: int) -> Bound:
    """Parameter `number` of the type `oid`, in binary format if `binary` is 1; None is NULL.

    Raises `BadValue` if `value` isn't written as its type is.
    """
    if oid in o.ELEMENTS and oid not in o.VECTORS and value is not None:
        return _listed(number, value, oid, binary)
    return typed(python_value(number, value, oid, binary), oid, str(number))


def _listed(number: int, value: bytes, oid: int, binary: int) -> Listed:
    if binary:
        unpacked = python_value(number, value, oid, binary)
        assert isinstance(unpacked, list)
        values: list[object] = unpacked
    else:
        texts = items(value.decode(errors="replace"))
        if texts is None:
            raise BadValue(f"parameter {number} isn't written as its type is")
        values = [
            None if t is None else python_value(number, t.encode(), o.ELEMENTS[oid], 0)
            for t in texts
        ]
    constants = tuple(typed(v, o.ELEMENTS[oid], str(number)) for v in values)
    return Listed(constants, typed(array(values), o.TEXT, str(number)))


def typed(value: object, oid: int, name: str) -> Literal:
    """A constant of its parameter's type, so that rows have the types that were described."""
    if oid in _INTEGERS and isinstance(value, int):
        bits = _INTEGERS[oid]
        if not -(1 << bits - 1) <= value < 1 << bits - 1:
            raise OutOfRange(f"parameter {name} is out of the range of its type")
        return Literal(value, Integer(bits))
    return literal(value, name)


TEXTS: Final = ("day", "2024-01-01", "1", "true", "1 day")
"""Texts that a parameter may be: a unit of time, as in date_trunc($1, x), a date, a number …"""


def example(oid: int, name: str, text: str = TEXTS[0]) -> Bound:
    """Some value of the type `oid`, to describe a statement before its parameters are bound."""
    if oid in o.ELEMENTS and oid not in o.VECTORS:
        item = typed(_EXAMPLES.get(o.ELEMENTS[oid], text), o.ELEMENTS[oid], name)
        return Listed((item,), typed("{}", o.TEXT, name))
    return typed(_EXAMPLES.get(oid, text), oid, name)


def python_value(number: int, value: bytes | None, oid: int, binary: int) -> object:
    """Parameter `number` as Python's value; `BadValue` if it isn't one of the type `oid`."""
    if value is None:
        return None
    errors = (ValueError, ArithmeticError, struct.error, UnicodeDecodeError, InvalidOperation)
    with suppress(*errors):
        return _packed(value, oid) if binary else _from_text(value.decode(), oid)
    raise BadValue(f"parameter {number} isn't written as its type is")


def _packed(value: bytes, oid: int) -> object:
    if oid in _NUMBERS:
        return struct.unpack(_NUMBERS[oid], value)[0]
    match oid:
        case o.BOOL:
            return struct.unpack("!?", value)[0]
        case o.NUMERIC:
            return _numeric(value)
        case o.DATE:
            return EPOCH + dt.timedelta(struct.unpack("!i", value)[0])
        case o.TIMESTAMP | o.TIMESTAMPTZ:
            return EPOCH_MOMENT + dt.timedelta(microseconds=struct.unpack("!q", value)[0])
        case o.INTERVAL:
            microseconds, days, months = struct.unpack("!qii", value)
            return f"{months} months {days} days {microseconds} microseconds"
        case o.TIME:
            (microseconds,) = struct.unpack("!q", value)
            return str((EPOCH_MOMENT + dt.timedelta(microseconds=microseconds)).time())
        case o.TIMETZ:
            microseconds, west = struct.unpack("!qi", value)
            zone = dt.timezone(-dt.timedelta(seconds=west))
            moment = EPOCH_MOMENT + dt.timedelta(microseconds=microseconds)
            return str(moment.time().replace(tzinfo=zone))
        case o.BYTEA:
            return written(value)
        case o.JSONB:
            if value[:1] != b"\x01":  # the version of the format
                raise ValueError
            return value[1:].decode()
        case o.UUID:
            digits = value.hex()
            return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
        case oid if oid in o.ELEMENTS:
            return _array(value)
        case _:
            return value.decode()


def _from_text(value: str, oid: int) -> object:
    match oid:
        case o.INT2 | o.INT4 | o.INT8 | o.OID:
            return int(_digits(value))
        case o.FLOAT4 | o.FLOAT8:
            return float(_digits(value))
        case o.NUMERIC:
            return Decimal(_digits(value))
        case o.BOOL:
            return truth(value)
        case o.DATE:
            return _moment(value).date()
        case o.TIMESTAMP:
            # A zone says nothing of a time without one: PostgreSQL leaves it out, too. JDBC sends
            # that of its machine behind every time.
            return _moment(value).replace(tzinfo=None)
        case o.TIMESTAMPTZ:
            return _moment(value)
        case o.BYTEA:
            return written(raw_bytes(value))
        case _:
            return value


def raw_bytes(text: str) -> bytes:
    """The bytes that `text` writes as PostgreSQL's bytea, in hexadecimal or with escapes."""
    if text.startswith("\\x"):
        return bytes.fromhex(text[2:])
    if _ESCAPED.fullmatch(text) is None:
        raise ValueError
    parts = _ESCAPE.split(text)  # what is escaped stands between other texts
    return b"".join(p.encode() if n % 2 == 0 else _unescaped(p) for n, p in enumerate(parts))


def _unescaped(escape: str) -> bytes:
    return b"\\" if escape == "\\" else bytes([int(escape, 8)])


def _digits(value: str) -> str:
    """The text of a number, which Python alone writes with underscores."""
    if "_" in value:
        raise ValueError
    return value


def _moment(value: str) -> dt.datetime:
    """A moment as it is written, whose day may stand before a zone alone, as JDBC writes dates."""
    text = _BEFORE_ZONE.sub("", value.strip())
    dated = _DAY_IN_ZONE.fullmatch(text)
    return dt.datetime.fromisoformat(f"{dated[1]} 00:00{dated[2]}" if dated else text)


def truth(value: str) -> bool:
    """Whether a boolean's text is true; ValueError if it isn't one of PostgreSQL's words."""
    word = value.strip().lower()
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    raise ValueError


def _numeric(value: bytes) -> Decimal:
    count, weight, sign, scale = struct.unpack_from("!HhHH", value)
    if sign not in {0, 0x4000}:
        raise ValueError
    groups = struct.unpack(f"!{count}H", value[8:])
    whole = 0
    for group in groups:
        whole = whole * 10_000 + group
    exponent = 4 * (weight + 1 - count)
    if abs(exponent) > 400 or scale > 400:
        raise ValueError
    # Groups have four digits, so that some of the last may be zeros that nobody wrote.
    whole, unwritten = divmod(whole * 10**400, 10 ** (400 - exponent - scale))
    if unwritten:
        raise ValueError
    number = Decimal(f"{whole}e-{scale}")
    return number.copy_negate() if sign else number


def _array(value: bytes) -> list[object]:
    dimensions, _, element = struct.unpack_from("!iiI", value)
    if dimensions == 0:
        return []
    if dimensions != 1:
        raise ValueError
    (count,) = struct.unpack_from("!i", value, 12)
    at, values = 20, []
    for _ in range(count):
        (length,) = struct.unpack_from("!i", value, at)
        at += 4
        values.append(None if length < 0 else _packed(value[at : at + length], element))
        at += max(0, length)
    return values


def examples(types: Sequence[int], text: str) -> dict[str, Bound]:
    """Values of parameters by their numbers, whose types have the OIDs `types`, as `example`."""
    return {str(n): example(oid, str(n), text) for n, oid in enumerate(types, start=1)}
