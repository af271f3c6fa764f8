"""The rows of a public table that the owner names, read from the source; no other row is read."""

from __future__ import annotations

from typing import Final

from dpsql.audit.databases.unit_law import PublicRows
from dpsql.emit.dialect.duckdb.render import rendered
from dpsql.emit.relation.relation import emit_plan
from dpsql.engine.opening import open_engine
from dpsql.errors import BadParameter, Refused
from dpsql.plan.expression import Column
from dpsql.plan.operator import Limit, Scan
from dpsql.release.open_public import open_rows
from dpsql.schema.load.table_section.column_types import whole_source
from dpsql.schema.model import Public, Schema
from dpsql.session.compile.source_facts import MAX_ROWS
from dpsql.structs import replace

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
    plan, limit = Scan(table, columns, None), replace(MAX_ROWS, rows=_MAX_ROWS + 1)
    sql = rendered(emit_plan(Limit(plan, _MAX_ROWS + 1, 0), {}))
    with open_engine(whole_source(schema)) as engine:
        read = open_rows(plan, engine.execute(sql, limit=limit))
    if not 1 <= read.num_rows <= _MAX_ROWS:
        has = f"more than {_MAX_ROWS} rows" if read.num_rows else "no rows"
        raise BadParameter(f"{name} has {has}", hint="name a public table of some rows")
    rows = list(zip(*(values.to_pylist() for values in read.columns), strict=True))
    return PublicRows(name, tuple(column.name for column in columns), rows)
