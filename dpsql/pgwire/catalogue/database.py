"""The catalogue's rows as a worker loads them: what a schema declares, and no data."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import pyarrow as pa

from dpsql.engine.enclosure import Contents
from dpsql.engine.result import stream
from dpsql.pgwire.catalogue import filling, standard
from dpsql.pgwire.catalogue.relation import Relation, relations
from dpsql.pgwire.catalogue.table_rows import Row
from dpsql.schema.model import Schema


def contents(schema: Schema, macros: Sequence[str]) -> Contents:
    """All relations of PostgreSQL 15, filled from `schema`, and `macros` for its functions."""
    filled: dict[str, list[Row]] = {}
    for space, rows in (
        ("pg_catalog", filling.rows(schema)),
        ("information_schema", standard.rows(schema)),
    ):
        for name, row in rows:
            filled.setdefault(f"{space}__{name}", []).append(row)
    known = relations().values()
    statements = (*map(_table, known), *macros)
    tables = {
        relation.stored: stream(_rows(relation, filled[relation.stored]))
        for relation in known
        if relation.stored in filled
    }
    return Contents(_name(statements, tables), statements, tables)


def _name(statements: tuple[str, ...], tables: dict[str, bytes]) -> str:
    found = hashlib.sha256()
    for part in (*(s.encode() for s in statements), *tables.values()):
        found.update(len(part).to_bytes(8, "big") + part)
    return found.hexdigest()


def _table(relation: Relation) -> str:
    columns = ", ".join(f'"{a.name}" {a.stored}' for a in relation.attributes)
    return f'CREATE TABLE "{relation.stored}" ({columns})'


def _rows(relation: Relation, listed: list[Row]) -> pa.Table:
    names = [
        name for name in (a.name for a in relation.attributes) if any(name in r for r in listed)
    ]
    return pa.table({name: pa.array([row.get(name) for row in listed]) for name in names})
