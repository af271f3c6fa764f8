"""Whose rows each table has: asked of who writes a schema, or answered beforehand."""

from __future__ import annotations

import sys
from collections.abc import Mapping

import click

from dpsql.cli.init.draft import Draft, DraftTable
from dpsql.schema.load.identifiers import is_plain
from dpsql.structs import replace

_ROW, _PUBLIC = "row", "public"


def decided(draft: Draft, known: Mapping[str, str]) -> Draft:
    """`draft` with whose rows each table has: as `known`, by table, or as is asked on a terminal.

    The answer is a column that identifies whose each row is; "row", for a unit in each row; or
    "public". Where several tables have the column, the first one that it was said of lists units.
    """
    missing = known.keys() - {table.name for table in draft.tables}
    if missing:
        raise click.UsageError(f"there is no table {min(missing)} to have a unit")
    units: dict[str, tuple[str, str]] = {kind: (table, key) for kind, table, key in draft.units}
    tables = []
    for table in draft.tables:
        if table.unit is not None:
            tables.append(replace(table, is_calibrated=True))
            continue
        answer = known[table.name] if table.name in known else _answer(table)
        tables.append(_decided(table, answer, units))
    kinds = tuple((kind, table, key) for kind, (table, key) in units.items())
    return replace(draft, tables=tuple(tables), units=kinds)


def _decided(table: DraftTable, answer: str, units: dict[str, tuple[str, str]]) -> DraftTable:
    if answer == _PUBLIC:
        return replace(table, is_public=True)
    if answer == _ROW:
        return replace(table, unit=_ROW, is_calibrated=True)
    named = [column for column in table.columns if column.name == answer]
    if not named or not is_plain(answer):
        names = ", ".join(column.name for column in table.columns if is_plain(column.name))
        raise click.UsageError(
            f"{table.name} has no column {answer} that can identify a unit; it has {names}, and"
            f" {_ROW} or {_PUBLIC} will do"
        )
    reference = named[0].references
    if reference is None and answer in units and units[answer][0] != table.name:
        reference = ".".join(units[answer])
    if reference is not None:
        unit = f"{{column: {answer}, references: {reference}}}"
        return replace(table, unit=unit, is_calibrated=True)
    units[answer] = (table.name, answer)
    return replace(table, unit=answer, is_calibrated=True)


def _answer(table: DraftTable) -> str:
    if not sys.stdin.isatty():
        raise click.UsageError(f"say whose rows {table.name} has: --unit {table.name}=COLUMN")
    names = ", ".join(column.name for column in table.columns)
    click.echo(f"{table.name}: {names}", err=True)
    question = f"whose rows are these? a column that identifies them, {_ROW} or {_PUBLIC}"
    return str(click.prompt(question, err=True))
