"""Undeclared columns of public tables: those whose name and type in the source can be used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dpsql.schema.load.column_types import SourceColumns, known_type
from dpsql.schema.load.identifiers import is_plain
from dpsql.schema.model import Column, Public, Table
from dpsql.schema.source_location import ServerSource, Source


def add_public_columns(
    tables: Mapping[str, Table], source: Source | ServerSource, source_columns: SourceColumns | None
) -> Mapping[str, Table]:
    """Add to public tables their undeclared columns that have a plain name and a type that is read.

    CSV files have no types, and so no such columns.
    """
    return {
        name: replace(table, columns=_with_undeclared(table, source_columns[name]))
        if source_columns is not None
        and isinstance(table.ownership, Public)
        and not is_delimited(source, name)
        else table
        for name, table in tables.items()
    }


def is_delimited(source: Source | ServerSource, table: str) -> bool:
    """Whether a table's file is CSV, whose columns have no types of their own."""
    return isinstance(source, Source) and source.is_delimited(table)


def _with_undeclared(table: Table, source_columns: Mapping[str, str]) -> Mapping[str, Column]:
    columns = dict(table.columns)
    taken = {name.casefold() for c in columns.values() for name in (c.name, c.stored_as)}
    for name, written in source_columns.items():
        kind = known_type(written)
        if kind is not None and is_plain(name) and name.casefold() not in taken:
            columns[name] = Column(name, kind)
            taken.add(name.casefold())
    return columns
