"""What a sidecar on a server stores of a table: what a scan of it reads, in that server's SQL."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from dpsql.emit.relation.relation import emit_plan
from dpsql.emit.sql.clauses import select_of
from dpsql.emit.sql.identifier import reference, subquery, with_alias
from dpsql.engine.sidecar.row_columns import UNIT_COLUMN
from dpsql.engine.sidecar.server import ServerSidecar
from dpsql.engine.source import Columns
from dpsql.engine.supported import ServerSelect
from dpsql.errors import SourceFault
from dpsql.plan.bounded_release.server_query import ServerStatement
from dpsql.plan.expression import Column
from dpsql.plan.operator import Scan
from dpsql.schema.model import EntityUnit, Schema, Table
from dpsql.session.preparing.server_sidecar import unit_type


def stored_select(
    schema: Schema,
    table: Table,
    own: EntityUnit,
    names: frozenset[str],
    rendered: Callable[[exp.Expr], ServerStatement],
) -> ServerSelect:
    """The rows of `table` that have a unit: the columns of these `names`, and the unit."""
    columns = tuple(
        Column(number, column.name, column.type)
        for number, column in enumerate(table.columns.values(), start=1)
        if column.name in names
    )
    unit = Column(0, UNIT_COLUMN, unit_type(schema, own))
    shown = [with_alias(reference(c), c.name) for c in (*columns, unit)]
    for item in shown:
        item.args["alias"].set("quoted", True)
    rows = select_of(shown, subquery(emit_plan(Scan(table, columns, unit), {}), "t"))
    typed = tuple((column.name, str(column.type)) for column in (*columns, unit))
    return as_select(rendered(rows), typed)


def as_select(statement: ServerStatement, columns: Columns) -> ServerSelect:
    """A statement whose rows have these columns."""
    return ServerSelect(statement.sql, statement.tables, statement.names, columns)


def check_some(sidecar: ServerSidecar) -> None:
    """Refuse a sidecar that would have no table."""
    if not sidecar.tables:
        raise SourceFault(
            "no table can be prepared: each names its unit itself, or is led to it by no declared"
            " key",
            hint="queries are answered without it",
        )
