"""A schema's tables, columns and keys with OIDs: the same OIDs for the same schema.

Only keys of public tables, and references to public tables, are listed: BI tools would offer a key
that identifies privacy units as a group key.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from msgspec import Struct

from dpsql.pgwire.codec.oid import NUMERIC, TEXT, column
from dpsql.schema.model import Public, Schema
from dpsql.schema.model import Table as Declared
from dpsql.schema.qualified_name import MAIN, QualifiedNames, bare, schema_of
from dpsql.schema.qualified_name import PUBLIC as PUBLIC_NAME

FIRST_OID: Final = 16_384
OWNER: Final = 10
READER: Final = 16_383
ANALYST: Final = "\x02"
"""What rows have for the name of the role that asks, whose OID is `READER`."""
DATABASE: Final = FIRST_OID
"""Clients hide a database with a smaller one, as a system database."""
_MAX_DECLARED: Final = 100_000
"""More than a schema's tables: a saved release's OIDs come after all of these, and never change."""

PG_CATALOG, PUBLIC, STANDARD, TOAST = 11, 2200, 13_207, 99


class Column(Struct, frozen=True):
    """A column: `position` counts from 1; `modifier` is PostgreSQL's atttypmod, -1 for none."""

    name: str
    position: int
    type_oid: int
    modifier: int
    not_null: bool
    comment: str

    @property
    def collation(self) -> int:
        """The OID of the default collation for text, 0 for all other types."""
        return 100 if self.type_oid == TEXT else 0

    @property
    def precision(self) -> tuple[int, int] | None:
        """A decimal's digits in all and after the point; None for other types."""
        if self.type_oid != NUMERIC or self.modifier < 0:
            return None
        return (self.modifier - 4) >> 16, (self.modifier - 4) & 0xFFFF


class Key(Struct, frozen=True):
    """A primary key and its index; `positions` are its columns, counted from 1."""

    oid: int
    index_oid: int
    name: str
    positions: tuple[int, ...]


class Namespace(Struct, frozen=True):
    """A schema in the sense of SQL; DuckDB's `main` is called `public`."""

    oid: int
    name: str


class ForeignKey(Struct, frozen=True):
    """A column that references a public table's key; `to` is that table's declared name.

    Positions of the column and of the key count from 1.
    """

    oid: int
    name: str
    position: int
    to: str
    to_position: int


@dataclass(frozen=True, slots=True)
class Table:
    """A declared table or view; `name` is without its schema, which `space` is.

    `has_source` tells whether `name` alone, without the schema, means this table.
    """

    oid: int
    type_oid: int
    name: str
    space: Namespace
    has_source: bool
    columns: tuple[Column, ...]
    key: Key | None
    references: tuple[ForeignKey, ...]
    comment: str
    is_view: bool

    @property
    def array_oid(self) -> int:
        """The OID of the type of arrays of its rows."""
        return self.type_oid + 1

    @property
    def description(self) -> str:
        """The table's name in text, with its schema where the name alone would mean another."""
        return self.name if self.has_source else f"{self.space.name}.{self.name}"


class Listed(Struct, frozen=True):
    """All that analysts see of a dataset: `tables` by their declared names, in order of their OIDs.

    It is built once for a schema, since there may be a hundred thousand columns.
    """

    dataset: str
    spaces: tuple[Namespace, ...]
    tables: Mapping[str, Table]


def listed(schema: Schema) -> Listed:
    """The tables and views that analysts see, in order of their names, then saved releases."""
    offered = schema.visible_tables
    ordered = sorted(offered.items(), key=lambda item: (item[1].saved_entry or 0, item[0]))
    spaces = _spaces(offered)
    known = {space.name: space for space in spaces}
    names = QualifiedNames(offered)
    tables = {}
    for n, (name, declared) in enumerate(ordered):
        number = n if declared.saved_entry is None else _MAX_DECLARED + declared.saved_entry
        tables[name] = Table(
            oid=(oid := FIRST_OID + 100 * number),
            type_oid=oid + 1,
            name=bare(name),
            space=known[_space(name)],
            has_source=names.resolve([bare(name)], schema.dataset) == (name,),
            columns=_columns(declared),
            key=_key(oid, declared),
            references=tuple(_references(oid, declared, offered)),
            comment=declared.comment,
            is_view=name in schema.views,
        )
    return Listed(schema.dataset, spaces, tables)


def _spaces(offered: Mapping[str, Declared]) -> tuple[Namespace, ...]:
    """The SQL schemas of the tables that analysts see, `public` first."""
    names = sorted({_space(name) for name in offered} - {PUBLIC_NAME})
    first = FIRST_OID + 100 * len(offered)
    return (
        Namespace(PUBLIC, PUBLIC_NAME),
        *(Namespace(first + n, name) for n, name in enumerate(names)),
    )


def _space(declared: str) -> str:
    space = schema_of(declared)
    return PUBLIC_NAME if space == MAIN else space


def _columns(declared: Declared) -> tuple[Column, ...]:
    is_public = isinstance(declared.ownership, Public)
    in_key = frozenset(declared.key or () if is_public else ())
    columns = []
    for position, own in enumerate(declared.columns.values(), 1):
        sent = column(own.name, own.type)
        not_null = not own.nullable or own.name in in_key
        columns.append(Column(own.name, position, sent.oid, sent.modifier, not_null, own.comment))
    return tuple(columns)


def _references(
    oid: int, declared: Declared, offered: Mapping[str, Declared]
) -> Iterator[ForeignKey]:
    numbered = enumerate(declared.columns.values(), 1)
    for n, (position, own) in enumerate((p, c) for p, c in numbered if c.references):
        assert own.references is not None
        other = offered.get(own.references.table)
        if other is None:
            continue
        if isinstance(other.ownership, Public) and other.key == (own.references.column,):
            to_position = list(other.columns).index(own.references.column) + 1
            constraint = f"{bare(declared.name)}_{own.name}_fkey"
            yield ForeignKey(oid + 10 + n, constraint, position, other.name, to_position)


def _key(oid: int, declared: Declared) -> Key | None:
    if declared.key is None or not isinstance(declared.ownership, Public):
        return None
    names = list(declared.columns)
    positions = tuple(names.index(column) + 1 for column in declared.key)
    return Key(oid + 4, oid + 3, f"{bare(declared.name)}_pkey", positions)
