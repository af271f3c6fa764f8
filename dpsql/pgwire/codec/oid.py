"""SQL types → PostgreSQL's OIDs, sizes and modifiers."""

from __future__ import annotations

from typing import Final, assert_never

from msgspec import Struct

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

BOOL, BYTEA, CHAR, NAME, INT8, INT2, INT4, REGPROC, TEXT, OID = (
    16,
    17,
    18,
    19,
    20,
    21,
    23,
    24,
    25,
    26,
)
JSON, FLOAT4, FLOAT8, UNKNOWN, BPCHAR, VARCHAR, DATE, TIME = (
    114,
    700,
    701,
    705,
    1042,
    1043,
    1082,
    1083,
)
TIMESTAMP, TIMESTAMPTZ, INTERVAL, TIMETZ, NUMERIC, UUID = 1114, 1184, 1186, 1266, 1700, 2950
TEXTS, REGTYPE, JSONB = 1009, 2206, 3802

SIZES: Final = {
    BOOL: 1,
    CHAR: 1,
    NAME: 64,
    INT8: 8,
    INT2: 2,
    INT4: 4,
    REGPROC: 4,
    OID: 4,
    FLOAT4: 4,
    FLOAT8: 8,
    DATE: 4,
    TIME: 8,
    TIMESTAMP: 8,
    TIMESTAMPTZ: 8,
    INTERVAL: 16,
    UUID: 16,
    REGTYPE: 4,
}
"""Bytes of the types of fixed size, PostgreSQL's typlen; all other types have -1."""

ELEMENTS: Final = {
    1000: BOOL,
    1001: BYTEA,
    1002: CHAR,
    1003: NAME,
    1005: INT2,
    1007: INT4,
    1009: TEXT,
    1015: VARCHAR,
    1016: INT8,
    1021: FLOAT4,
    1022: FLOAT8,
    1028: OID,
    1115: TIMESTAMP,
    1182: DATE,
    1185: TIMESTAMPTZ,
    1187: INTERVAL,
    1231: NUMERIC,
    2951: UUID,
    22: INT2,
    30: OID,
    1034: 1033,
}
"""The OID of the items' type by the OID of the array type."""


VECTORS: Final = frozenset({22, 30})
"""int2vector and oidvector, which are written without braces."""


class Column(Struct, frozen=True):
    """One column of an answer.

    `modifier` is PostgreSQL's atttypmod: precision and scale of a decimal, else -1.
    """

    name: str
    oid: int
    modifier: int = -1

    @property
    def size(self) -> int:
        """Bytes of a value, -1 if values differ in size."""
        return SIZES.get(self.oid, -1)


def column(name: str, kind: SqlType) -> Column:
    """The column `name` with the type that PostgreSQL has for values of `kind`."""
    if isinstance(kind, Decimal):
        return Column(name, NUMERIC, (kind.precision << 16 | kind.scale) + 4)
    return Column(name, oid_of(kind))


def oid_of(kind: SqlType) -> int:
    """The OID of the PostgreSQL type that holds all values of `kind`."""
    match kind:
        case Boolean():
            return BOOL
        case Integer(bits=bits, signed=signed):
            return _integer(bits if signed else bits + 1)
        case Decimal():
            return NUMERIC
        case Double(bits=bits):
            return FLOAT8 if bits == 64 else FLOAT4
        case Varchar() | Null():
            return TEXT
        case Date():
            return DATE
        case Timestamp():
            return TIMESTAMP
        case Interval():
            return INTERVAL
        case Uuid():
            return UUID
        case Array(of=of):
            held = oid_of(of)
            return held if isinstance(of, Array) else array_of(held)
        case missing:
            assert_never(missing)


def array_of(element: int) -> int:
    """The OID of the array type of `element`, that of text[] where there is none."""
    return next((oid for oid, held in ELEMENTS.items() if held == element), TEXTS)


def _integer(bits: int) -> int:
    for max_bits, oid in ((16, INT2), (32, INT4), (64, INT8)):
        if bits <= max_bits:
            return oid
    return NUMERIC


def formatted(type_oid: int, modifier: int) -> str:
    """The type's name as PostgreSQL's format_type() writes it."""
    if type_oid == NUMERIC and modifier >= 4:
        return f"numeric({(modifier - 4) >> 16},{(modifier - 4) & 0xFFFF})"
    return _NAMES.get(type_oid, "text")


_NAMES: Final = {
    BOOL: "boolean",
    INT8: "bigint",
    INT2: "smallint",
    INT4: "integer",
    FLOAT4: "real",
    FLOAT8: "double precision",
    TIMESTAMP: "timestamp without time zone",
    NUMERIC: "numeric",
    DATE: "date",
    UUID: "uuid",
    INTERVAL: "interval",
}
