"""A DuckDB of its own with the catalogue's rows: no data is ever in its reach."""

from __future__ import annotations

from collections.abc import Iterable

import duckdb
import pyarrow as pa

from dpsql.engine.lockdown import lock, prepare
from dpsql.pgwire.catalogue import filling, standard
from dpsql.pgwire.catalogue.function import macros
from dpsql.pgwire.catalogue.relation import Relation, relations
from dpsql.pgwire.catalogue.table_rows import Row
from dpsql.schema.model import Schema

_MEMORY = "256MiB"


def open_catalogue(schema: Schema) -> duckdb.DuckDBPyConnection:
    """All relations of PostgreSQL 15, filled from `schema`, locked."""
    connection = duckdb.connect(":memory:", config={"threads": "1", "memory_limit": _MEMORY})
    prepare(connection)
    filled: dict[str, list[Row]] = {}
    for space, rows in (
        ("pg_catalog", filling.rows(schema)),
        ("information_schema", standard.rows(schema)),
    ):
        for name, row in rows:
            filled.setdefault(f"{space}__{name}", []).append(row)
    for relation in relations().values():
        connection.execute(_table(relation))
        _fill(connection, relation, filled.get(relation.stored, ()))
    for macro in macros(schema):
        connection.execute(macro)
    lock(connection, ())
    return connection


def _table(relation: Relation) -> str:
    columns = ", ".join(f'"{a.name}" {a.stored}' for a in relation.attributes)
    return f'CREATE TABLE "{relation.stored}" ({columns})'


def _fill(connection: duckdb.DuckDBPyConnection, relation: Relation, rows: Iterable[Row]) -> None:
    listed = list(rows)
    if not listed:
        return
    names = [
        name for name in (a.name for a in relation.attributes) if any(name in r for r in listed)
    ]
    arrow = pa.table({name: pa.array([row.get(name) for row in listed]) for name in names})
    connection.register("filling", arrow)
    quoted = ", ".join(f'"{name}"' for name in names)
    connection.execute(f'INSERT INTO "{relation.stored}" ({quoted}) SELECT * FROM filling')  # noqa: S608 - names of ours
    connection.unregister("filling")
