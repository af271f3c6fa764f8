"""Which privacy units the rows of a database belong to: walked over its rows, without the planner.

An audit compares what the compiler proves with databases, so it may not ask the compiler whose
rows they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import assert_never

from dpsql.schema.model import EntityUnit, Public, RowUnit, Schema, Table

Row = tuple[object, ...]
Rows = dict[str, list[Row]]
Unit = tuple[object, ...]
"""("row", table, place), or (kind, identity)."""

UnitsOfRows = Mapping[str, Sequence[frozenset[Unit]]]
"""For each row of each table its units: none if its chain breaks, several if keys repeat."""


def units_of_rows(schema: Schema, rows: Rows) -> UnitsOfRows:
    """Whose every row of `rows` is."""
    return {name: _units_of(schema, rows, name) for name in schema.tables}


def without(rows: Rows, units: UnitsOfRows, gone: frozenset[Unit]) -> Rows:
    """The same database less some units."""
    return {
        name: [
            row
            for row, own in zip(kept, units[name], strict=True)
            # A row that several units own, by a key that isn't unique, stays for the others.
            if not own or not own <= gone
        ]
        for name, kept in rows.items()
    }


def _units_of(schema: Schema, rows: Rows, name: str) -> list[frozenset[Unit]]:
    table = schema.tables[name]
    match table.ownership:
        case Public():
            return [frozenset() for _ in rows[name]]
        case RowUnit():
            return [frozenset({("row", name, place)}) for place in range(len(rows[name]))]
        case EntityUnit(kind=kind, hops=hops, column=column):
            found: list[frozenset[Unit]] = []
            for row in rows[name]:
                found_by = {_cells(table, row, hops[0].columns if hops else (column,))}
                for number, hop in enumerate(hops):
                    parent = schema.tables[hop.table]
                    onward = hops[number + 1].columns if number + 1 < len(hops) else (column,)
                    known = {cells for cells in found_by if None not in cells}
                    found_by = {
                        _cells(parent, other, onward)
                        for other in rows[hop.table]
                        if _cells(parent, other, hop.key) in known
                    }
                found.append(frozenset((kind, own) for (own,) in found_by if own is not None))
            return found
        case missing:
            assert_never(missing)


def _cells(table: Table, row: Row, columns: Sequence[str]) -> Row:
    names = list(table.columns)
    return tuple(row[names.index(column)] for column in columns)
