"""PostgreSQL's types of values, and the types of operators and functions over them."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from enum import StrEnum
from typing import Final

from sqlglot import exp

from dpsql.pgwire.codec import oid as o
from dpsql.schema.sql_type import SqlType


class Kind(StrEnum):
    """A type by PostgreSQL's name; UNKNOWN is that of a quoted constant, which takes any type.

    VARCHAR, BPCHAR and REGTYPE are types of columns that are sent; expressions have TEXT instead.
    """

    INT2 = "smallint"
    INT4 = "integer"
    INT8 = "bigint"
    NUMERIC = "numeric"
    FLOAT4 = "real"
    FLOAT8 = "double precision"
    TEXT = "text"
    BOOL = "boolean"
    DATE = "date"
    TIMESTAMP = "timestamp without time zone"
    TIMESTAMPTZ = "timestamp with time zone"
    INTERVAL = "interval"
    UUID = "uuid"
    UNKNOWN = "unknown"
    VARCHAR = "character varying"
    BPCHAR = "character"
    REGTYPE = "regtype"


INTEGERS: Final = frozenset({Kind.INT2, Kind.INT4, Kind.INT8})
TIMESTAMPS: Final[frozenset[Kind | None]] = frozenset({Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMPTZ})
FLOATS: Final = frozenset({Kind.FLOAT4, Kind.FLOAT8})
NUMBERS: Final = (Kind.INT2, Kind.INT4, Kind.INT8, Kind.NUMERIC, Kind.FLOAT4, Kind.FLOAT8)
"""The number types, from the narrowest to the widest."""

_BY_OID: Final = {
    o.INT2: Kind.INT2,
    o.INT4: Kind.INT4,
    o.INT8: Kind.INT8,
    o.NUMERIC: Kind.NUMERIC,
    o.FLOAT4: Kind.FLOAT4,
    o.FLOAT8: Kind.FLOAT8,
    o.TEXT: Kind.TEXT,
    o.VARCHAR: Kind.TEXT,
    o.BPCHAR: Kind.TEXT,
    o.NAME: Kind.TEXT,
    o.BOOL: Kind.BOOL,
    o.DATE: Kind.DATE,
    o.TIMESTAMP: Kind.TIMESTAMP,
    o.TIMESTAMPTZ: Kind.TIMESTAMPTZ,
    o.INTERVAL: Kind.INTERVAL,
    o.UUID: Kind.UUID,
    o.UNKNOWN: Kind.UNKNOWN,
    0: Kind.UNKNOWN,
}

_T = exp.DataType.Type
_WRITTEN: Final = {
    _T.TINYINT: Kind.INT2,
    _T.SMALLINT: Kind.INT2,
    _T.INT: Kind.INT4,
    _T.BIGINT: Kind.INT8,
    _T.DECIMAL: Kind.NUMERIC,
    _T.FLOAT: Kind.FLOAT4,
    _T.DOUBLE: Kind.FLOAT8,
    _T.TEXT: Kind.TEXT,
    _T.VARCHAR: Kind.TEXT,
    _T.CHAR: Kind.TEXT,
    _T.BPCHAR: Kind.TEXT,
    _T.NCHAR: Kind.TEXT,
    _T.NAME: Kind.TEXT,
    _T.BOOLEAN: Kind.BOOL,
    _T.DATE: Kind.DATE,
    _T.TIMESTAMP: Kind.TIMESTAMP,
    _T.TIMESTAMPTZ: Kind.TIMESTAMPTZ,
    _T.TIMESTAMPLTZ: Kind.TIMESTAMPTZ,
    _T.INTERVAL: Kind.INTERVAL,
    _T.UUID: Kind.UUID,
}


OIDS: Final = {kind: oid for oid, kind in reversed(_BY_OID.items())}
"""The OID of each type: the first of those that are taken for it."""


def of_oid(oid: int) -> Kind | None:
    """The type with that OID; None for a type that isn't in `Kind`."""
    return _BY_OID.get(oid)


def of_column(kind: SqlType) -> Kind | None:
    """The type as which a column of the type `kind` is sent, None if it isn't in `Kind`."""
    return _BY_OID.get(o.oid_of(kind))


def of_written(kind: exp.DataType) -> Kind | None:
    """The type that a cast names, None if it isn't in `Kind`."""
    return _WRITTEN.get(kind.this)


def of_number(digits: str) -> Kind:
    """The type of a number constant, by its digits."""
    if not digits.isdigit():
        return Kind.NUMERIC
    for kind, bits in ((Kind.INT4, 31), (Kind.INT8, 63)):
        if int(digits) < 1 << bits:
            return kind
    return Kind.NUMERIC


def common(kinds: Iterable[Kind | None]) -> Kind | None:
    """The type of CASE, COALESCE, UNION … over values of `kinds`; None if it can't be derived."""
    known = set(kinds)
    if None in known:
        return None
    known.discard(Kind.UNKNOWN)
    if not known:
        return Kind.UNKNOWN
    if known <= set(NUMBERS):
        return _widest(known)
    if known <= TIMESTAMPS:
        return _latest(known)
    return known.pop() if len(known) == 1 else None


def _latest(kinds: AbstractSet[Kind | None]) -> Kind:
    if Kind.TIMESTAMPTZ in kinds:
        return Kind.TIMESTAMPTZ
    return Kind.TIMESTAMP if Kind.TIMESTAMP in kinds else Kind.DATE


def series(ends: Iterable[Kind | None]) -> Kind | None:
    """The type of generate_series(): over dates, timestamps with time zone."""
    kind = common(ends)
    return Kind.TIMESTAMPTZ if kind is Kind.DATE else kind


def truncated(kind: Kind | None) -> Kind | None:
    """The type of date_trunc(): of a date, a timestamp with time zone."""
    if kind in {Kind.DATE, Kind.UNKNOWN}:
        return Kind.TIMESTAMPTZ
    return kind if kind in TIMESTAMPS or kind is Kind.INTERVAL else None


def at_zone(kind: Kind | None) -> Kind | None:
    """The type of x AT TIME ZONE: a text constant, and a date, are timestamps with time zone."""
    if kind in {Kind.TIMESTAMPTZ, Kind.DATE, Kind.UNKNOWN}:
        return Kind.TIMESTAMP
    return Kind.TIMESTAMPTZ if kind is Kind.TIMESTAMP else None


def _widest(kinds: set[Kind | None]) -> Kind:
    mixed = len(kinds) > 1 and kinds & FLOATS
    known = (kind for kind in kinds if kind is not None)
    return Kind.FLOAT8 if mixed else max(known, key=NUMBERS.index)


def arithmetic(node: exp.Expr, left: Kind | None, right: Kind | None) -> Kind | None:
    """The type of the operator `node` (+ - * / %) over `left` and `right`; None if unknown."""
    if left is Kind.UNKNOWN and right is not None:
        left = right
    if right is Kind.UNKNOWN and left is not None:
        right = left
    pair = {left, right}
    if pair <= set(NUMBERS):
        return _widest(pair)
    match node:
        case exp.Sub() if pair == {Kind.DATE}:
            return Kind.INT4
        case exp.Sub() if pair <= TIMESTAMPS:
            return Kind.INTERVAL
        case exp.Add() | exp.Sub() if pair & TIMESTAMPS and pair <= TIMESTAMPS | {Kind.INTERVAL}:
            return _latest({Kind.TIMESTAMP, *pair})
        case exp.Add() | exp.Sub() if Kind.DATE in pair and pair & INTEGERS:
            return Kind.DATE
        case exp.Add() | exp.Sub() | exp.Mul() | exp.Div() if Kind.INTERVAL in pair:
            return Kind.INTERVAL if pair <= {Kind.INTERVAL, *NUMBERS} else None
        case _:
            return None


def summed(kind: Kind | None) -> Kind | None:
    """The type of sum(x)."""
    if kind in {Kind.INT2, Kind.INT4}:
        return Kind.INT8
    return Kind.NUMERIC if kind is Kind.INT8 else kind


def averaged(kind: Kind | None) -> Kind | None:
    """The type of avg(x), stddev(x), variance(x)."""
    if kind in INTEGERS or kind is Kind.NUMERIC:
        return Kind.NUMERIC
    return Kind.FLOAT8 if kind in FLOATS else kind


def rounded(kind: Kind | None) -> Kind | None:
    """The type of round(x), floor(x), sign(x), sqrt(x) …: numeric for numeric, else a float."""
    if kind is Kind.NUMERIC:
        return kind
    return Kind.FLOAT8 if kind in NUMBERS or kind is Kind.UNKNOWN else None
