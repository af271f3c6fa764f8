"""The tables and columns that may be named, as the schema declares them, never their rows."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final, assert_never

from dpsql.dbapi.statements.describe import reference
from dpsql.errors import UnknownTable
from dpsql.mcp.json_rows import json_value
from dpsql.mcp.tool_arguments import ListTables
from dpsql.mcp.tool_results import ColumnLine, TableFacts, TableLine, Tables, UnitLimits
from dpsql.schema.model import Column, EntityUnit, Public, RowUnit, Schema, Table

MAX_TABLES: Final = 200
MAX_VALUES: Final = 200


def tables(catalogue: Schema, request: ListTables) -> Tables:
    """The tables of `request`, at most `MAX_TABLES` at once."""
    wanted = request.search.casefold()
    matching = [
        table
        for table in catalogue.visible_tables.values()
        if wanted in table.name.casefold() or wanted in table.comment.casefold()
    ][request.offset :]
    lines = [
        TableLine(
            table.name,
            whose(table, catalogue),
            _is_public(table),
            len(table.columns),
            table.comment,
        )
        for table in matching[:MAX_TABLES]
    ]
    return Tables(catalogue.dataset, lines, len(matching) - len(lines))


def table_facts(catalogue: Schema, name: str) -> TableFacts:
    """One table with its columns; UnknownTable if no table of that name may be named."""
    table = catalogue.resolve(*name.replace('"', "").split("."))
    if table is None:
        raise UnknownTable(
            f"there is no table {name[:100]}", hint="list_tables has the names of all tables"
        )
    limits = table.limits if isinstance(table.ownership, EntityUnit) else None
    return TableFacts(
        table.name,
        whose(table, catalogue),
        _is_public(table),
        [_column(column, catalogue) for column in table.columns.values()],
        None if table.key is None else list(table.key),
        None if limits is None else UnitLimits(limits.groups, limits.rows_per_group, limits.rows),
        table.comment,
    )


def whose(table: Table, catalogue: Schema) -> str:
    """Whose rows a table or view has, in words."""
    view = catalogue.views.get(table.name)
    if view is not None and view.is_release:
        return "nobody: noisy answers that were paid for"
    match table.ownership:
        case Public():
            if table.saved_entry is not None:
                return "nobody: an answer that an analyst keeps"
            return "nobody: public, shown exactly and free"
        case RowUnit():
            return "each row is of another unit"
        case EntityUnit(kind=kind):
            return kind
        case missing:
            assert_never(missing)


def _is_public(table: Table) -> bool:
    return isinstance(table.ownership, Public)


def _column(column: Column, catalogue: Schema) -> ColumnLine:
    values = column.values
    return ColumnLine(
        column.name,
        str(column.type),
        None if column.bounds is None else [_domain(value) for value in column.bounds],
        None if values is None else [_domain(value) for value in values[:MAX_VALUES]],
        None if values is None else len(values),
        column.nullable,
        reference(column, catalogue),
        column.comment,
    )


def _domain(value: object) -> Any:
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else float(value)
    return json_value(value)
