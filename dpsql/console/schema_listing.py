r"""The listings of `\d`, `\dt` and `\l`: the schema as declared, never anything of its rows."""

from __future__ import annotations

from collections.abc import Iterator

from dpsql.console.completion import describe
from dpsql.dbapi.statements.describe import reference, whose
from dpsql.errors import UnknownTable
from dpsql.report.sample_budget import sample_lines
from dpsql.report.terminal.sanitize import sanitize
from dpsql.report.terminal.table import listing
from dpsql.schema.model import EntityUnit, Schema, Table
from dpsql.session.ledger_access import ledger_location


def tables(schema: Schema) -> str:
    """A line for each table: whose rows it has, how many columns, and its comment."""
    rows = [
        [t.name, whose(t, schema), str(len(t.columns)), t.comment]
        for t in schema.visible_tables.values()
    ]
    return listing(("table", "rows of", "columns", "comment"), rows)


def columns(schema: Schema, name: str) -> str:
    """One table: its columns with their domains, its privacy unit, key and limits.

    `UnknownTable` if no table has that name.
    """
    table = schema.resolve(*name.replace('"', "").strip("; ").split("."))
    if table is None:
        raise UnknownTable(f"there is no table {name}", hint=r"\dt lists the tables")
    rows = [
        [
            c.name,
            describe(c),
            "" if c.nullable else "not null",
            reference(c, schema) or "",
            c.comment,
        ]
        for c in table.columns.values()
    ]
    names = ("column", "type and domain", "", "references", "comment")
    return "\n".join([listing(names, rows), "", *_description(table, schema)])


def datasets(schema: Schema) -> str:
    """The dataset, its files, its budget, its neighbors and its privacy units."""
    budget = schema.budget
    promised = f"epsilon {float(budget.epsilon):g}, delta {float(budget.delta):g}"
    lines = {
        "dataset": schema.dataset,
        "schema": str(schema.path),
        "source": str(schema.source),
        "ledger": str(ledger_location(schema)),
        "budget": f"{promised} ({budget.accounting.value})",
        "neighbours": schema.relation,
        "units": ", ".join(schema.units) or "rows",
    }
    listed = (f"{name:<11} {sanitize(text)}" for name, text in lines.items())
    return "\n".join([*listed, *sample_lines(schema)])


def _description(table: Table, schema: Schema) -> Iterator[str]:
    if table.comment:
        yield table.comment
    yield f"rows of: {whose(table, schema)}"
    if table.key:
        yield f"key: {', '.join(table.key)}"
    if isinstance(table.ownership, EntityUnit):
        limits = table.limits
        yield (
            f"limits per unit: groups {limits.groups}, rows_per_group {limits.rows_per_group},"
            f" rows {limits.rows}"
        )
