"""The record of a sidecar: its stamp, and of each table which relation it is, and its rows.

It is written last. Its stamp is sealed together with all the rest, so that no part of a record can
be altered alone. A relation is known by its number and by that of the file of its rows: one that
was dropped and made again under the same name, or emptied and filled again, has another.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct

from dpsql.engine.digest import digest_of, encoded
from dpsql.engine.postgres.connection import ServerConnection, literal, quoted

RECORD: Final = "made of"
"""The table that has the record. It has a space, which no declared table has in its name."""

_COLUMNS: Final = "stamp text, name text, relation int8, file int8, row_count int8"

_READ: Final = "stamp::text, name::text, relation::int8, file::int8, row_count::int8"

_MAX_TABLES: Final = 10_000

# A right to write that anybody has, of the table or of a column; its owner has one unless it was
# revoked. Rules would have other rows read or written than those of the table.
_RELATIONS: Final = """
SELECT c.relname::text, c.oid::int8, coalesce(pg_relation_filenode(c.oid), 0)::int8,
    c.relkind = 'r' AND NOT c.relhasrules AND c.relacl IS NOT NULL AND NOT EXISTS (
        SELECT FROM aclexplode(c.relacl) AS g WHERE g.privilege_type <> 'SELECT')
    AND NOT EXISTS (
        SELECT FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attacl IS NOT NULL)
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = {space}
"""


class Relation(Struct, frozen=True):
    """A relation of the sidecar's schema, by its numbers; `is_closed`: nobody may write to it."""

    number: int
    file: int
    is_closed: bool


class RecordedTable(Struct, frozen=True):
    """A table of the record, with its number of rows."""

    name: str
    number: int
    file: int
    rows: int


def relations(server: ServerConnection, space: str) -> Mapping[str, Relation]:
    """What there is in the schema `space`."""
    rows = server.rows(_RELATIONS.format(space=literal(space)))
    return {name: Relation(*rest) for name, *rest in rows}


def read_record(server: ServerConnection, space: str, stamp: str) -> Mapping[str, RecordedTable]:
    """The tables of the record; none if it has another stamp, or was altered."""
    at = f"{quoted(space)}.{quoted(RECORD)}"
    rows = server.rows(f"SELECT {_READ} FROM {at} LIMIT {_MAX_TABLES}")  # noqa: S608 - our own names
    if any(None in row for row in rows):
        return {}
    tables = [RecordedTable(*rest) for _, *rest in rows]
    sealed = _sealed(stamp, tables)
    is_ours = all(recorded == sealed for recorded, *_ in rows)
    return {table.name: table for table in tables} if is_ours else {}


def write_record(
    server: ServerConnection, space: str, stamp: str, tables: Iterable[RecordedTable]
) -> None:
    """Make the table of the record, with a row for each of `tables`."""
    at, tables = f"{quoted(space)}.{quoted(RECORD)}", tuple(tables)
    server.run(f"CREATE TABLE {at} ({_COLUMNS})")
    sealed = literal(_sealed(stamp, tables))
    for table in tables:
        values = f"{sealed}, {literal(table.name)}, {table.number}, {table.file}, {table.rows}"
        server.run(f"INSERT INTO {at} VALUES ({values})")  # noqa: S608 - of our own texts


def _sealed(stamp: str, tables: Iterable[RecordedTable]) -> str:
    """A digest of the stamp and the record's rows, in the order of names."""
    ordered = sorted(tables, key=lambda table: table.name)
    texts = (encoded((each.name, each.number, each.file, each.rows)) for each in ordered)
    return digest_of("sealed stamp on a server", stamp, *texts)
