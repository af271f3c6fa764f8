"""The catalogue's rows as a worker loads them: what a schema declares, and no data."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

import pyarrow as pa

from dpsql.engine.sandbox.database import Contents
from dpsql.pgwire.catalog import information_schema_rows, pg_catalog_rows
from dpsql.pgwire.catalog.objects import Listed
from dpsql.pgwire.catalog.pg_catalog_table_rows import Row
from dpsql.pgwire.catalog.relations import Relation, relations

_ROWS_AT_ONCE: Final = 4096
"""As Python's objects, a hundred thousand rows would take a hundred times their bytes."""

_PACKED: Final = pa.ipc.IpcWriteOptions(compression="zstd")
"""The server keeps them for workers that have to be replaced, and most values stand in each row."""

_STORED: Final = {
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


def contents(seen: Listed, macros: Sequence[str]) -> Contents:
    """All relations of PostgreSQL 15 as `seen`, and `macros` for its functions."""
    known = {relation.stored: relation for relation in relations().values()}
    filled: dict[str, _Filled] = {}
    for space, rows in (
        ("pg_catalog", pg_catalog_rows.rows(seen)),
        ("information_schema", information_schema_rows.rows(seen)),
    ):
        for name, row in rows:
            stored = f"{space}__{name}"
            if stored not in filled:
                filled[stored] = _Filled(known[stored])
            filled[stored].add(row)
    statements = (*map(_table, known.values()), *macros)
    tables = {name: filled[name].packed() for name in known if name in filled}
    return Contents(_name(statements, tables), statements, tables)


def _name(statements: tuple[str, ...], tables: dict[str, bytes]) -> str:
    found = hashlib.sha256()
    for part in (*(s.encode() for s in statements), *tables.values()):
        found.update(len(part).to_bytes(8, "big") + part)
    return found.hexdigest()


def _table(relation: Relation) -> str:
    columns = ", ".join(f'"{a.name}" {a.stored}' for a in relation.attributes)
    return f'CREATE TABLE "{relation.stored}" ({columns})'


class _Filled:
    """One relation's rows, of which few are Python's objects at a time."""

    def __init__(self, relation: Relation) -> None:
        self._types = {a.name: _type(a.stored) for a in relation.attributes}
        self._columns: dict[str, list[pa.Array]] = {}
        self._rows: list[Row] = []
        self._before = 0

    def add(self, row: Row) -> None:
        self._rows.append(row)
        if len(self._rows) == _ROWS_AT_ONCE:
            self._pack()

    def packed(self) -> bytes:
        """All of them as an Arrow stream, without the columns that are NULL in each."""
        self._pack()
        names = [name for name in self._types if name in self._columns]
        table = pa.table({name: pa.chunked_array(self._columns[name]) for name in names})
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


def _type(stored: str) -> pa.DataType:
    """What holds values on their way to a column of that type in DuckDB."""
    if stored.endswith("[]"):
        return pa.list_(_type(stored[:-2]))
    return _STORED.get(stored, pa.string())
