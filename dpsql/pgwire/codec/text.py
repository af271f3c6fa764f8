"""Values → PostgreSQL's text format."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Final

import numpy as np
import pyarrow as pa

from dpsql.pgwire.codec.array import dimensions
from dpsql.pgwire.codec.oid import ELEMENTS, VECTORS

Encoder = Callable[[object], bytes]

_EXPONENT_FROM: Final = 1e15
_PLAIN: Final = re.compile(r'[^{}",\\\s]+')


def encoder(oid: int) -> Encoder:
    """The function that writes a value of the type `oid`; it is not called for NULL."""
    if oid in VECTORS:
        return lambda value: vector(value).encode()
    if oid in ELEMENTS:
        encode = encoder(ELEMENTS[oid])
        return lambda value: array(value, lambda item: encode(item).decode()).encode()
    match oid:
        case 1184:
            return lambda value: zoned(value).encode()
        case 16:
            return lambda value: b"t" if value else b"f"
        case 1700:
            return lambda value: written(decimal(value)).encode()
        case 700:
            return lambda value: _float(value, single=True).encode()
        case _:
            return lambda value: written(value).encode(errors="replace")


def written(value: object) -> str:
    """A value as text, by its Python type."""
    match value:
        case str():
            return value
        case bool():
            return "t" if value else "f"
        case int():
            return str(value)
        case float():
            return _float(value)
        case Decimal():
            return format(value, "f") if value.is_finite() else _float(float(value))
        case dt.datetime():
            return _moment(value)
        case dt.date():
            return f"{value.year:04}-{value.month:02}-{value.day:02}"
        case dt.time():
            return _trimmed(value.isoformat())
        case dt.timedelta():
            return interval(0, value.days, value.seconds * 1_000_000 + value.microseconds)
        case pa.MonthDayNano():
            return interval(value.months, value.days, value.nanoseconds // 1000)
        case bytes():
            return "\\x" + value.hex()
        case list():
            return array(value)
        case _:
            return str(value)


def decimal(value: object) -> Decimal:
    """A number as a decimal: a float as the shortest one that is read as it, zero without sign."""
    if isinstance(value, float):
        return Decimal(repr(value + 0.0).removesuffix(".0"))
    return value if isinstance(value, Decimal) else Decimal(str(value))


def interval(months: int, days: int, microseconds: int) -> str:
    """An interval in PostgreSQL's IntervalStyle `postgres`."""
    years, left = (abs(months) // 12, abs(months) % 12)
    sign = -1 if months < 0 else 1
    counted = ((sign * years, "year"), (sign * left, "mon"), (days, "day"))
    parts: list[str] = []
    plus = ""  # a part behind a negative one is written with its sign, too
    for n, unit in counted:
        if n:
            parts.append(f"{plus if n > 0 else ''}{n} {unit}{'' if n == 1 else 's'}")
            plus = "+" if n < 0 else ""
    if microseconds or not parts:
        seconds, fraction = divmod(abs(microseconds), 1_000_000)
        clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        ends = f".{fraction:06}".rstrip("0") if fraction else ""
        parts.append(("-" if microseconds < 0 else plus) + clock + ends)
    return " ".join(parts)


def vector(value: object) -> str:
    """A list as PostgreSQL writes an oidvector: items between blanks, without braces."""
    return array(value)[1:-1].replace(",", " ") if isinstance(value, Sequence) else str(value)


def array(value: object, write: Callable[[object], str] = written) -> str:
    """A list as PostgreSQL writes an array, with `write` for its items; a text stays as it is."""
    if isinstance(value, str):
        return value
    items = value if isinstance(value, Sequence) else ()
    return _braced(items, write) if dimensions(items) else "{}"


def _braced(items: Sequence[object], write: Callable[[object], str]) -> str:
    inside = (
        _braced(item, write) if isinstance(item, list) else _item(item, write) for item in items
    )
    return "{" + ",".join(inside) + "}"


def _item(value: object, write: Callable[[object], str]) -> str:
    if value is None:
        return "NULL"
    text = write(value)
    if _PLAIN.fullmatch(text) and text.upper() != "NULL":
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _float(value: object, *, single: bool = False) -> str:
    assert isinstance(value, int | float)
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    precise = np.float32(value) if single else np.float64(value)
    if abs(value) >= (1e6 if single else _EXPONENT_FROM) or 0 < abs(value) < 1e-4:
        return np.format_float_scientific(precise, trim="-", exp_digits=2)
    return np.format_float_positional(precise, trim="-")


def zoned(value: object) -> str:
    """A timestamp with its time zone, which is always UTC."""
    text = written(value)
    return text + "+00" if isinstance(value, dt.datetime) and value.tzinfo is None else text


def _moment(value: dt.datetime) -> str:
    naive = value.replace(tzinfo=None)
    zone = "" if value.tzinfo is None else "+00"
    return _trimmed(f"{naive.year:04}" + naive.isoformat(" ")[4:]) + zone


def _trimmed(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text
