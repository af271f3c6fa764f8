"""The 208 relations of PostgreSQL 15 and its types, from a list of names."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any, Final

import pyarrow as pa
from msgspec import Struct

_DOMAINS: Final = {
    "information_schema.sql_identifier": "name",
    "information_schema.character_data": "varchar",
    "information_schema.yes_or_no": "varchar",
    "information_schema.cardinal_number": "int4",
    "information_schema.time_stamp": "timestamptz",
}
_SHORT: Final = {
    "bigint": "int8",
    "integer": "int4",
    "smallint": "int2",
    "boolean": "bool",
    "real": "float4",
    "double precision": "float8",
    '"char"': "char",
    "timestamp with time zone": "timestamptz",
    "character varying": "varchar",
}
_STORED: Final = {
    "int8": "BIGINT",
    "int4": "INTEGER",
    "int2": "SMALLINT",
    "oid": "BIGINT",
    "regproc": "BIGINT",
    "xid": "BIGINT",
    "bool": "BOOLEAN",
    "float4": "FLOAT",
    "float8": "DOUBLE",
    "numeric": "DECIMAL(38,0)",
    "timestamptz": "TIMESTAMP",
    "interval": "INTERVAL",
    "int2vector": "SMALLINT[]",
    "oidvector": "BIGINT[]",
    "anyarray": "VARCHAR[]",
}

_ARROW: Final = {
    "BIGINT": pa.int64(),
    "INTEGER": pa.int32(),
    "SMALLINT": pa.int16(),
    "BOOLEAN": pa.bool_(),
    "FLOAT": pa.float32(),
    "DOUBLE": pa.float64(),
    "DECIMAL(38,0)": pa.decimal128(38, 0),
    "TIMESTAMP": pa.timestamp("us"),
    "VARCHAR": pa.string(),
}

Row = Mapping[str, object]
"""A row's values by column; columns that aren't named are NULL."""


class Attribute(Struct, frozen=True):
    """A column of a relation; `type` is the name of its type in pg_type."""

    name: str
    type: str

    @property
    def stored(self) -> str:
        """The type of DuckDB's that the column has there."""
        if self.type.startswith("_"):
            return _STORED.get(self.type[1:], "VARCHAR") + "[]"
        return _STORED.get(self.type, "VARCHAR")

    @property
    def arrow_type(self) -> pa.DataType:
        """The Arrow type that carries its values there."""
        item = _ARROW.get(self.stored.removesuffix("[]"), pa.string())
        return pa.list_(item) if self.stored.endswith("[]") else item


class Relation(Struct, frozen=True):
    """A table or view of the catalogue; `space` is pg_catalog or information_schema."""

    space: str
    name: str
    attributes: tuple[Attribute, ...]

    @property
    def stored(self) -> str:
        """The relation's name in DuckDB, which has schemas of both names itself."""
        return f"{self.space}__{self.name}"


class Type(Struct, frozen=True):
    """A type of pg_type: `size` is its typlen in bytes, `row` its values in the list's order."""

    oid: int
    name: str
    size: int
    row: tuple[object, ...]


@cache
def relations() -> Mapping[tuple[str, str], Relation]:
    """All relations by schema and name."""
    known = {}
    for full, columns in _listed()["relations"].items():
        space, _, name = full.partition(".")
        attributes = tuple(Attribute(column, _type_name(kind)) for column, kind in columns)
        known[space, name] = Relation(space, name, attributes)
    return known


@cache
def types() -> Mapping[str, Type]:
    """The base types by name."""
    kinds = (Type(row[0], row[1], row[4], tuple(row)) for row in _listed()["types"])
    return {kind.name: kind for kind in kinds}


@cache
def types_by_oid() -> Mapping[int, Type]:
    """The base types by OID."""
    return {kind.oid: kind for kind in types().values()}


@cache
def type_names() -> Mapping[int, str]:
    """Names of the types by OID."""
    return {kind.oid: kind.name for kind in types().values()}


@cache
def _listed() -> Any:
    text = resources.files("dpsql.pgwire.catalog").joinpath("postgresql_15.json").read_text("utf-8")
    document: Any = json.loads(text)
    return document


def _type_name(written: str) -> str:
    if written.endswith("[]"):
        return "_" + _type_name(written[:-2])
    return _DOMAINS.get(written) or _SHORT.get(written, written)
