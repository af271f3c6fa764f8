"""The rows of a public table that the owner names, read from the source; no other row is read."""

from __future__ import annotations

from typing import Final

from dpsql.audit.databases.unit_law import PublicRows
from dpsql.engine.opening import open_engine
from dpsql.errors import BadParameter, Refused
from dpsql.plan.expression import Column
from dpsql.plan.operator import Scan
from dpsql.release.columns.arrow import arrow_value
from dpsql.schema.load.column_types import engine_source
from dpsql.schema.model import Public, Schema
from dpsql.session.compile.source_facts import SourceFacts

_MAX_ROWS: Final = 100_000


def public_rows(schema: Schema, name: str) -> PublicRows:
    """All rows of the public table `name`; the source isn't opened if it isn't one."""
    table = schema.tables.get(name)
    if table is None or not isinstance(table.ownership, Public):
        public = [t.name for t in schema.tables.values() if isinstance(t.ownership, Public)]
        raise Refused(
            f"{name} is no public table",
            hint=f"name one of {', '.join(public)}" if public else "declare one: public: true",
        )
    columns = tuple(Column(n, c.name, c.type) for n, c in enumerate(table.columns.values(), 1))
    with open_engine(engine_source(schema)) as engine:
        rows = SourceFacts(schema, lambda: engine).rows(Scan(table, columns, None), _MAX_ROWS)
    if not rows:
        has = "no rows" if rows is not None else f"more than {_MAX_ROWS} rows"
        raise BadParameter(f"{name} has {has}", hint="name a public table of some rows")
    stored = [
        tuple(arrow_value(value, column.type) for value, column in zip(row, columns, strict=True))
        for row in rows
    ]
    return PublicRows(name, tuple(column.name for column in columns), stored)
