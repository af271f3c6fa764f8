"""Parameters of queries of the catalogue, as constants of DuckDB's."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction
from typing import Final

from msgspec import Struct
from sqlglot import exp

from dpsql.pgwire.catalog.cast import constant_bytes, constant_number
from dpsql.pgwire.codec import oid as o
from dpsql.plan.expression import Literal

HELD: Final = {
    o.TIMESTAMPTZ: "TIMESTAMP",
    o.TIME: "TIME",
    o.UUID: "UUID",
    o.BYTEA: "BLOB",
    o.JSON: "VARCHAR",
    o.JSONB: "VARCHAR",
}
"""DuckDB's types of texts and moments, by the types that clients declare for parameters."""


class DeclaredValue(Struct, frozen=True):
    """A parameter's value, and the OID in `HELD` that the client declares for it, 0 for none."""

    value: Literal
    oid: int = 0


def duckdb_constant(declared: DeclaredValue | None) -> exp.Expr:
    """The constant that a parameter is; NULL if it has no value."""
    if declared is None or declared.value.value is None:
        return exp.null()
    constant = declared.value.value
    match constant:
        case bool():
            return exp.Boolean(this=constant)
        case int():
            return exp.Literal.number(constant)
        case Fraction():
            return constant_number(declared.value)
        case dt.datetime():
            return exp.cast(exp.Literal.string(str(constant)), "TIMESTAMP")
        case dt.date():
            return exp.cast(exp.Literal.string(str(constant)), "DATE")
        case str() if declared.oid == o.BYTEA:
            return constant_bytes(constant)
        case _:
            text = exp.Literal.string(str(constant))
            return exp.cast(text, HELD[declared.oid]) if declared.oid in {o.TIME, o.UUID} else text
