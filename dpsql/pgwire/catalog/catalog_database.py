"""The catalogue's tables, rows and macros as a worker loads them: from a schema, without data."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

import pyarrow as pa

from dpsql.engine.sandbox.database import Contents
from dpsql.pgwire.catalog.objects import Listed
from dpsql.pgwire.catalog.relations import Relation, Row, relations
from dpsql.pgwire.catalog.rows import information_schema_rows, pg_catalog_rows
from dpsql.pgwire.catalog.rows.system_rows import system_tables
from dpsql.pgwire.catalog.rows.views import query

_ROWS_AT_ONCE: Final = 4096
"""Rows held as Python objects at a time: they take a hundred times the bytes of Arrow's."""

_PACKED: Final = pa.ipc.IpcWriteOptions(compression="zstd")
"""Compressed, since the server keeps the tables for workers that replace others, and most values
are the same in each row."""


def contents(seen: Listed, macros: Sequence[str]) -> Contents:
    """All relations of PostgreSQL 15 with the rows that follow from `seen`.

    `macros` are CREATE MACRO statements for PostgreSQL's functions.
    """
    known = {relation.stored: relation for relation in relations().values()}
    recorded = system_tables(seen.dataset)
    filled = {stored: _Filled(known[stored]) for stored in recorded}
    for space, rows in (
        ("pg_catalog", pg_catalog_rows.rows(seen)),
        ("information_schema", information_schema_rows.rows(seen)),
    ):
        for name, row in rows:
            stored = f"{space}__{name}"
            if stored not in filled:
                filled[stored] = _Filled(known[stored])
            filled[stored].add(row)
    views = {name: text for name in known if (text := query(known[name])) is not None}
    statements = (
        *(_table(known[name]) for name in known if name not in views),
        *(f'CREATE VIEW "{name}" AS {text}' for name, text in views.items()),
        *macros,
    )
    tables = {name: filled[name].packed(recorded.get(name)) for name in known if name in filled}
    return Contents(_name(statements, tables), statements, tables)


def _name(statements: tuple[str, ...], tables: dict[str, bytes]) -> str:
    digest = hashlib.sha256()
    for part in (*(s.encode() for s in statements), *tables.values()):
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()


def _table(relation: Relation) -> str:
    columns = ", ".join(f'"{a.name}" {a.stored}' for a in relation.attributes)
    return f'CREATE TABLE "{relation.stored}" ({columns})'


class _Filled:
    """Packs one relation's rows into Arrow columns, `_ROWS_AT_ONCE` rows at a time.

    `_before` is how many rows are packed already.
    """

    def __init__(self, relation: Relation) -> None:
        self._types = {a.name: a.arrow_type for a in relation.attributes}
        self._columns: dict[str, list[pa.Array]] = {}
        self._rows: list[Row] = []
        self._before = 0

    def add(self, row: Row) -> None:
        self._rows.append(row)
        if len(self._rows) == _ROWS_AT_ONCE:
            self._pack()

    def packed(self, first: pa.Table | None) -> bytes:
        """The rows behind those of `first`, without the columns that are NULL in every row."""
        self._pack()
        names = [name for name in self._types if name in self._columns]
        table = pa.table({name: pa.chunked_array(self._columns[name]) for name in names})
        if first is not None:
            table = pa.concat_tables([first, table], promote_options="default")
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema, options=_PACKED) as writer:
            writer.write_table(table)
        return bytes(sink.getvalue())

    def _pack(self) -> None:
        rows, self._rows = self._rows, []
        for name in {name for row in rows for name in row} - self._columns.keys():
            nothing = pa.nulls(self._before, self._types[name])
            self._columns[name] = [nothing] if self._before else []
        for name, chunks in self._columns.items():
            chunks.append(pa.array([row.get(name) for row in rows], self._types[name]))
        self._before += len(rows)
