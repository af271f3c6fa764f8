"""The privacy units that the rows of a database belong to, derived without the planner.

An audit checks the compiler's proofs against databases, so it doesn't rely on the compiler for the
units of their rows: it follows the declared hops from row to row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import assert_never

from dpsql.schema.model import EntityUnit, Public, RowUnit, Schema, Table

Row = tuple[object, ...]
Rows = dict[str, list[Row]]
Unit = tuple[object, ...]
"""("row", table, index of the row), or (kind, identity)."""

UnitsOfRows = Mapping[str, Sequence[frozenset[Unit]]]
"""For each row of each table its units: none if a hop leads nowhere, several if keys repeat."""


def units_of_rows(schema: Schema, rows: Rows) -> UnitsOfRows:
    """The units of every row of `rows`."""
    return {name: _units_of(schema, rows, name) for name in schema.tables}


def without(rows: Rows, units: UnitsOfRows, gone: frozenset[Unit]) -> Rows:
    """The database `rows`, whose rows have the owners `units`, without the units `gone`."""
    return {
        name: [
            row
            for row, own in zip(table_rows, units[name], strict=True)
            # A row that several units own, by a key that isn't unique, stays for the others.
            if not own or not own <= gone
        ]
        for name, table_rows in rows.items()
    }


def _units_of(schema: Schema, rows: Rows, name: str) -> list[frozenset[Unit]]:
    table = schema.tables[name]
    match table.ownership:
        case Public():
            return [frozenset() for _ in rows[name]]
        case RowUnit():
            return [frozenset({("row", name, index)}) for index in range(len(rows[name]))]
        case EntityUnit(kind=kind, hops=hops, column=column):
            owners: list[frozenset[Unit]] = []
            for row in rows[name]:
                reached = {_cells(table, row, hops[0].columns if hops else (column,))}
                for number, hop in enumerate(hops):
                    parent = schema.tables[hop.table]
                    onward = hops[number + 1].columns if number + 1 < len(hops) else (column,)
                    known = {cells for cells in reached if None not in cells}
                    reached = {
                        _cells(parent, other, onward)
                        for other in rows[hop.table]
                        if _cells(parent, other, hop.key) in known
                    }
                owners.append(frozenset((kind, own) for (own,) in reached if own is not None))
            return owners
        case missing:
            assert_never(missing)


def _cells(table: Table, row: Row, columns: Sequence[str]) -> Row:
    names = list(table.columns)
    return tuple(row[names.index(column)] for column in columns)
