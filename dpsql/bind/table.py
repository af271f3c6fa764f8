"""The schema's tables by name, as they are scanned."""

from __future__ import annotations

from difflib import get_close_matches

from dpsql.bind.context import Context, Selected
from dpsql.bind.period import of_period
from dpsql.errors import Span, UnknownTable
from dpsql.plan.columns import output_columns
from dpsql.plan.operator import Scan
from dpsql.schema.model import Public, Schema, Table
from dpsql.schema.type import BIGINT

DEFAULT_SCHEMAS = frozenset({"main", "public"})
"""What DuckDB and PostgreSQL call the schema of tables that are named without one."""


def find_table(schema: Schema, name: str, at: Span | None) -> Table:
    """The declared table called `name`; what isn't declared doesn't exist."""
    for table in schema.tables.values():
        if table.name.casefold() == name.casefold():
            return table
    near = get_close_matches(name, schema.tables, n=1)
    hint = f"did you mean {near[0]}?" if near else f"tables: {', '.join(schema.tables)}"
    raise UnknownTable(f"there is no table {name}", at=at, hint=hint)


def scanned(table: Table, context: Context) -> Selected:
    """All columns of `table`, under ids of their own; of the rows that the budget is of."""
    names = context.names
    found = tuple(names.column(c.name, c.type) for c in table.columns.values())
    unit = None
    if not isinstance(table.ownership, Public):
        unit = names.column(f"unit of {table.name}", BIGINT)
    rows = of_period(Scan(table, found, unit), context.schema.period)
    return Selected(rows, tuple(column.name for column in output_columns(rows)))
