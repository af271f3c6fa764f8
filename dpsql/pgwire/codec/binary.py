"""Values → PostgreSQL's binary format."""

from __future__ import annotations

import datetime as dt
import struct
import uuid
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Final

import pyarrow as pa

from dpsql.errors import DataError
from dpsql.pgwire.codec import oid as o
from dpsql.pgwire.codec.array import dimensions, leaves
from dpsql.pgwire.codec.text import decimal, written

Encoder = Callable[[object], bytes]

EPOCH: Final = dt.date(2000, 1, 1)
EPOCH_MOMENT: Final = dt.datetime(2000, 1, 1)  # noqa: DTZ001 - timestamps have no zone

_PACKED: Final = {
    o.INT2: "!h",
    o.INT4: "!i",
    o.INT8: "!q",
    o.OID: "!I",
    o.REGPROC: "!I",
    o.FLOAT4: "!f",
    o.FLOAT8: "!d",
    o.BOOL: "!?",
}


def encoder(oid: int) -> Encoder:
    """The function that packs a value of the type `oid`; it is not called for NULL."""
    if oid in o.ELEMENTS:
        return lambda value: array(value, o.ELEMENTS[oid])
    if oid in _PACKED:
        packed = struct.Struct(_PACKED[oid])
        return packed.pack
    match oid:
        case o.NUMERIC:
            return lambda value: numeric(decimal(value))
        case o.DATE:
            return _date
        case o.TIMESTAMP | o.TIMESTAMPTZ:
            return _moment
        case o.TIME:
            return _time
        case o.INTERVAL:
            return _interval
        case o.UUID:
            return lambda value: uuid.UUID(str(value)).bytes
        case o.JSONB:
            return lambda value: b"\x01" + written(value).encode(errors="replace")
        case o.BYTEA:
            return lambda value: value if isinstance(value, bytes) else str(value).encode()
        case _:
            return lambda value: written(value).encode(errors="replace")


def numeric(value: Decimal) -> bytes:
    """A number in base 10,000, as numeric_send() writes it.

    A head has the count of digits, the weight of the first digit, the sign, and how many decimal
    digits follow the point.
    """
    if not value.is_finite():
        sign_word = 0xC000 if value.is_nan() else 0xD000 if value > 0 else 0xF000
        return struct.pack("!HhHH", 0, 0, sign_word, 0)
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    scale = max(0, -exponent)
    whole = int("".join(map(str, digits)) or "0") * 10 ** max(0, exponent)
    whole *= 10 ** (-scale % 4)
    groups: list[int] = []
    while whole:
        whole, group = divmod(whole, 10_000)
        groups.append(group)
    weight = len(groups) - 1 - (scale + 3) // 4
    while groups and groups[0] == 0:
        groups.pop(0)
    head = struct.pack("!HhHH", len(groups), weight if groups else 0, 0x4000 * sign, scale)
    return head + struct.pack(f"!{len(groups)}H", *reversed(groups))


def array(value: object, element: int) -> bytes:
    """A list, whose inner lists have one length, as an array; each lower bound is 1.

    `element` is the OID of the items' type.
    """
    outer = value if isinstance(value, Sequence) and not isinstance(value, str) else ()
    shape = dimensions(outer)
    if not shape:
        return struct.pack("!iiI", 0, 0, element)
    encode, items = encoder(element), list(leaves(outer))
    parts = [struct.pack("!iiI", len(shape), int(None in items), element)]
    parts += [struct.pack("!ii", length, 1) for length in shape]
    for item in items:
        if item is None:
            parts.append(struct.pack("!i", -1))
        else:
            packed = encode(item)
            parts.append(struct.pack("!i", len(packed)) + packed)
    return b"".join(parts)


def _date(value: object) -> bytes:
    day = value.date() if isinstance(value, dt.datetime) else value
    assert isinstance(day, dt.date)
    return struct.pack("!i", (day - EPOCH).days)


def _moment(value: object) -> bytes:
    if isinstance(value, dt.datetime):
        since = value.replace(tzinfo=None) - EPOCH_MOMENT
    elif isinstance(value, dt.date):
        since = value - EPOCH
    else:
        raise DataError("a moment was expected")
    return struct.pack("!q", since // dt.timedelta(microseconds=1))


def _time(value: object) -> bytes:
    assert isinstance(value, dt.time)
    seconds = value.hour * 3600 + value.minute * 60 + value.second
    return struct.pack("!q", seconds * 1_000_000 + value.microsecond)


def _interval(value: object) -> bytes:
    if isinstance(value, dt.timedelta):
        micros = value.seconds * 1_000_000 + value.microseconds
        return struct.pack("!qii", micros, value.days, 0)
    assert isinstance(value, pa.MonthDayNano)
    return struct.pack("!qii", value.nanoseconds // 1000, value.days, value.months)
