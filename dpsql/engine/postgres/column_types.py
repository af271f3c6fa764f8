"""How columns of each of the server's types are read: what is sent, and what it becomes.

What is sent is a function of the value alone that no value makes fail, and what becomes of it is a
value of DuckDB's or NULL: neither may depend on a row. A value that DuckDB's type doesn't have is
NULL: NaN of a numeric, and a timestamp after the year 294246. Infinite dates and timestamps are
DuckDB's own.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

import pyarrow as pa
from msgspec import Struct

_DATE: Final = """CASE {0}
WHEN 'infinity'::pg_catalog.date THEN 2147483647
WHEN '-infinity'::pg_catalog.date THEN -2147483647
ELSE {0} - '1970-01-01'::pg_catalog.date END"""
"""Days since 1970: DuckDB has the same infinities, and all of the server's days."""

_TIMESTAMP: Final = """CASE
WHEN {0} = 'infinity'::pg_catalog.timestamp THEN 9223372036854775807
WHEN {0} = '-infinity'::pg_catalog.timestamp THEN -9223372036854775807
WHEN {0} < '294247-01-01'::pg_catalog.timestamp
THEN (extract(epoch FROM {0}) * 1000000)::pg_catalog.int8 END"""
"""Microseconds since 1970, exact in numeric; the server's last 29 years are beyond 64 bits."""

_BY_UTC: Final = _TIMESTAMP.replace("{0}", "({0} AT TIME ZONE 'UTC')")
_TEXT: Final = "{0}::pg_catalog.text"


class ColumnReading(Struct, frozen=True):
    """A column of the server's type is sent as `sent`, an expression of {0}, and read as `type`.

    `arrow` is what the numbers that come are taken for, None for what they are. `offered` is the
    name of the type for whoever declares it. One that `is_key` reads no two values alike, and has
    NULL for at most one of them.
    """

    type: str
    sent: str = "{0}"
    arrow: pa.DataType | None = None
    offered: str = ""
    is_key: bool = True

    @property
    def is_text_of_number(self) -> bool:
        """Its digits come, of which the declared type takes what it has."""
        return self.type == "DOUBLE" and self.sent == _TEXT

    def offer(self) -> str:
        """The name of the type for whoever declares it."""
        return self.offered or self.type


_READINGS: Final[dict[str, ColumnReading]] = {
    "boolean": ColumnReading("BOOLEAN"),
    "smallint": ColumnReading("SMALLINT"),
    "integer": ColumnReading("INTEGER"),
    "bigint": ColumnReading("BIGINT"),
    "real": ColumnReading("FLOAT", is_key=False),
    "double precision": ColumnReading("DOUBLE", is_key=False),
    # Of any number of digits: the nearest double, or what the schema declares.
    "numeric": ColumnReading("DOUBLE", _TEXT, is_key=False),
    "text": ColumnReading("VARCHAR"),
    "character varying": ColumnReading("VARCHAR"),
    "uuid": ColumnReading("UUID"),
    "date": ColumnReading("DATE", _DATE, pa.date32()),
    "timestamp without time zone": ColumnReading(
        "TIMESTAMP", _TIMESTAMP, pa.timestamp("us"), is_key=False
    ),
    "timestamp with time zone": ColumnReading(
        "TIMESTAMP", _BY_UTC, pa.timestamp("us"), "TIMESTAMP WITH TIME ZONE", is_key=False
    ),
}

_NUMERIC: Final = re.compile(r"numeric\((\d+),(\d+)\)")
_VARYING: Final = re.compile(r"character varying\(\d+\)")
# Its text has no blanks at its end, which the type adds and compares without.
_PADDED: Final = re.compile(r"character\(\d+\)")
_TIMED: Final = re.compile(r"timestamp\(\d\) (with|without) time zone")


@lru_cache(maxsize=1024)
def reading(server_type: str) -> ColumnReading | None:
    """How a column is read whose type the server's catalog calls `server_type`; None: not at all.

    Numerics come as text: for a million rows of three columns, 1.65 s; as integers, which the
    server makes by multiplying, 2.17 s; as the driver writes them, 2.9 s.
    """
    if match := _NUMERIC.fullmatch(server_type):
        precision, scale = map(int, match.groups())
        if precision <= 38 and scale <= precision:
            return ColumnReading(f"DECIMAL({precision},{scale})", _TEXT)
        return None
    if _VARYING.fullmatch(server_type):
        return _READINGS["character varying"]
    if _PADDED.fullmatch(server_type):
        return ColumnReading("VARCHAR", _TEXT)
    if match := _TIMED.fullmatch(server_type):
        return _READINGS[f"timestamp {match[1]} time zone"]
    return _READINGS.get(server_type)


def offered_type(server_type: str) -> str:
    """The type's name for whoever declares a column; of one that isn't read, the server's own."""
    known = reading(server_type)
    return f"PostgreSQL {server_type}" if known is None else known.offer()


_INTEGERS: Final = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
_NUMBERS: Final = frozenset({*_INTEGERS, *(f"U{name}" for name in _INTEGERS), "FLOAT", "DOUBLE"})
_TIMES: Final = frozenset({"DATE", "TIMESTAMP"})


def converts(known: ColumnReading, declared: str, *, is_key: bool) -> bool:
    """Whether a column so read may be declared as another type: a number, or a day or moment.

    Of a key, only as one that holds all its values: two that were read alike would be one.
    """
    if known.type == declared:
        return known.is_key or not is_key
    if is_key:
        wide: Callable[[str], int] = _INTEGERS.index
        both = known.type in _INTEGERS and declared in _INTEGERS
        return both and wide(known.type) < wide(declared)
    return any(family(known.type) and family(declared) for family in (_is_number, _is_time))


def _is_number(name: str) -> bool:
    return name in _NUMBERS or name.startswith("DECIMAL")


def _is_time(name: str) -> bool:
    return name in _TIMES
