"""The schema's tables and views by name, and tables as they are scanned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from dpsql.bind.context import BoundQuery, Context
from dpsql.bind.from_clause.period_filter import of_period
from dpsql.bind.syntax.parse import span
from dpsql.errors import Span, UnknownTable
from dpsql.near_name import near_name
from dpsql.plan.operator import Scan
from dpsql.plan.output_columns import output_columns
from dpsql.schema.model import Public, Table, View
from dpsql.schema.qualified_name import resolve_name
from dpsql.schema.sql_type import BIGINT
from dpsql.structs import replace


def find_relation(context: Context, node: exp.Table) -> Table | View:
    """The declared table or view that `node` names, or a saved release.

    Raises UnknownTable for other names, and, outside of a view's text, for hidden tables.
    """
    # FROM '' names no table, but names it.
    parts = [*(part for part in (node.catalog, node.db) if part), node.name]
    return find_named(context, parts, span(node))


def find_named(context: Context, parts: Sequence[str], at: Span | None) -> Table | View:
    """`find_relation` by the parts of a name: table, schema.table or catalog.schema.table."""
    schema = context.schema
    known: Mapping[str, Table | View] = {**schema.tables, **schema.views}
    if not context.view_stack:
        known = {name: names for name, names in known.items() if names.visible}
    names = resolve_name(known, parts, schema.dataset)
    if len(names) == 1:
        return known[names[0]]
    name, releases = ".".join(parts) or "''", () if context.view_stack else context.releases.names()
    if names:
        raise UnknownTable(
            f"{name} is in several schemas", at=at, hint=f"write {' or '.join(names)}"
        )
    # A view's text is the owner's, and never reads a release that an analyst saved.
    for release in resolve_name(releases, parts, schema.dataset):
        if (table := context.releases.find(release)) is not None:
            context.named_releases.append(table)
            return table
    near = near_name(name, [*known, *releases])
    hint = f"did you mean {near}?" if near else f"tables: {', '.join([*known, *releases])}"
    raise UnknownTable(f"there is no table {name[:80]}", at=at, hint=hint, fix=near)


def scanned(table: Table, context: Context) -> BoundQuery:
    """The columns of `table` under new ids, in the rows of the period that the budget is for.

    In a view's text the contribution limits are those of the innermost view that states some, and a
    hidden table is shown by the name of the view that the statement names.
    """
    names = context.names
    stated = [view.limits for view in context.view_stack if view.limits is not None]
    if stated and not isinstance(table.ownership, Public):
        table = replace(table, limits=stated[-1])
    if not table.visible and context.view_stack:
        table = replace(table, hidden_behind=context.view_stack[0].name)
    columns = tuple(names.column(c.name, c.type) for c in table.columns.values())
    unit = None
    if not isinstance(table.ownership, Public):
        unit = names.column(f"unit of {table.name}", BIGINT)
    rows = of_period(Scan(table, columns, unit), context.schema.period)
    return BoundQuery(rows, tuple(column.name for column in output_columns(rows)))
