"""Columns of a table that are bounded together: by the norm of their values in each row."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Final

from dpsql.schema.load.file_format import NormSection, TableSection, fill
from dpsql.schema.load.yaml_document import Document, DocumentPath
from dpsql.schema.model import Column, Public, Table
from dpsql.schema.row_norm import RowNorm
from dpsql.schema.sql_type import Decimal, Double, Integer
from dpsql.structs import replace

_LARGEST: Final = Fraction(10) ** 15
_SMALLEST: Final = 1 / _LARGEST
_MAX_COLUMNS: Final = 16


def attach_norms(
    document: Document, sections: Mapping[str, TableSection], tables: Mapping[str, Table]
) -> dict[str, Table]:
    """`tables` with the norms of their sections; each column of a norm of R is within [-R, R]."""
    return {
        name: _with_norm(document, name, sections[name].norm, table)
        for name, table in tables.items()
    }


def _with_norm(document: Document, name: str, data: object, table: Table) -> Table:
    if data is None:
        return table
    path = ("tables", name, "norm")
    section = fill(NormSection, document, path, data)
    if isinstance(table.ownership, Public):
        raise document.error(path, "is for what a row adds to private sums", "remove it")
    if (section.l1 is None) == (section.l2 is None):
        raise document.error(path, "has one radius", "write l1: or l2:, and a number")
    order, radius = (1, section.l1) if section.l2 is None else (2, section.l2)
    if radius is None or not _SMALLEST <= radius <= _LARGEST:
        raise document.error(
            (*path, f"l{order}"), "out of range", "write a number from 1e-15 to 1e15"
        )
    if not 2 <= len(set(section.columns)) == len(section.columns) <= _MAX_COLUMNS:
        raise document.error(
            (*path, "columns"), "are bounded together", f"list 2 to {_MAX_COLUMNS} columns"
        )
    bounded = {
        column: _bounded(document, path, table, column, radius) for column in section.columns
    }
    return replace(
        table,
        columns={**table.columns, **bounded},
        norm=RowNorm(tuple(section.columns), radius, order),
    )


def _bounded(
    document: Document, path: DocumentPath, table: Table, name: str, radius: Fraction
) -> Column:
    """The column with the bounds that its norm sets; it may declare no others."""
    column = table.columns.get(name)
    if column is None:
        raise document.unknown_key_error(
            (*path, "columns"), f"there is no column {name}", table.columns, "correct the name"
        )
    at = ("tables", table.name, "columns", name)
    if column.bounds is not None or column.values is not None or column.response is not None:
        raise document.error(
            at, "is bounded by its table's norm", "remove its other bounds, or it from norm:"
        )
    match column.type:
        case Integer():
            whole = math.floor(radius)
            if whole == 0:
                raise document.error(path, f"leaves {name} nothing but 0", "write a larger radius")
            return replace(column, bounds=(-whole if column.type.signed else 0, whole))
        case Decimal() | Double():
            return replace(column, bounds=(-radius, radius))
        case other:
            raise document.error(at, f"{other} is no number", "remove it from norm:")
