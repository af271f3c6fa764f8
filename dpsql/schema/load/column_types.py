"""Types that the schema leaves out, from the source's catalogue; the source as the engine opens it.

Names and types only: all else in a catalogue (an ENUM's labels, NOT NULL, statistics, folders of a
partition) follows from rows, and so is declared by the owner or not known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dpsql.engine.duckdb.catalog import read_catalog
from dpsql.engine.source import Columns, DuckDBSource, SourceTable
from dpsql.schema.load.yaml_document import Document, DocumentPath
from dpsql.schema.model import Schema, Source
from dpsql.schema.source_types import reading
from dpsql.schema.sql_type import (
    Date,
    Decimal,
    Double,
    Integer,
    SqlType,
    Timestamp,
    parse_type,
)

SourceColumns = Mapping[str, Mapping[str, str]]
"""For each table of the source the type names of its columns, in order."""

Read = Callable[[DuckDBSource], Mapping[str, Columns]]
"""Reads a source's catalogue, in this process or in the one that alone may open the source."""


def engine_source(schema: Schema) -> DuckDBSource:
    """The source as the engine is to open it: of each table the declared columns, and no others."""
    return DuckDBSource(
        database=None if schema.source.files else str(schema.source.path),
        tables=tuple(
            SourceTable(
                name,
                file=str(schema.source.files[name]) if schema.source.files else None,
                columns=tuple((column.name, str(column.type)) for column in table.columns.values()),
                renamed=tuple(
                    (column.name, column.stored_as)
                    for column in table.columns.values()
                    if column.stored_as != column.name
                ),
            )
            for name, table in schema.tables.items()
        ),
    )


def find_columns(source: Source, read: Read = read_catalog) -> SourceColumns | None:
    """The columns of the source's tables, by its catalogue; None if the source doesn't exist yet.

    A schema that declares every type can thus be read, explained and tested without any data.
    """
    if not source.path.exists():
        return None
    if source.files:
        tables = tuple(SourceTable(name, str(file)) for name, file in source.files.items())
        catalog = read(DuckDBSource(None, tables))
    else:
        catalog = read(DuckDBSource(str(source.path)))
    return {table: dict(columns) for table, columns in catalog.items()}


def known_type(source_type: str) -> SqlType | None:
    """The type as which a column of the source's type is read; None if such columns aren't read."""
    return reading(source_type).type


def column_type(
    document: Document,
    path: DocumentPath,
    declared: str | None,
    source_type: str | None,
    *,
    is_delimited: bool,
    identifies: bool,
) -> SqlType:
    """A column's type, by the declared type and the source's (None: there is none); or SchemaFault.

    `identifies`: the types of keys and unit columns aren't cast, since a cast could make one unit
    of two ('7' and '07'). A CSV file has only text: its identities are compared after the cast.
    """
    written = None if declared is None else parse_type(declared)
    if declared is not None and written is None:
        read = known_type(declared)
        fix = "see the list of types, or leave it out"
        if read is not None:
            fix = f"write {str(read).lower()}, as which it is read, or leave it out"
        raise document.error((*path, "type"), f"{declared} is not a type here", fix)
    if written is None and (source_type is None or is_delimited):
        why = (
            "a CSV file has no types"
            if is_delimited
            else "its type is not known without the source"
        )
        raise document.error(path, why, "declare it, as in {type: bigint}")
    if source_type is None or is_delimited:
        assert written is not None
        return written
    offered = known_type(source_type)
    if offered is None:
        raise document.error(
            path,
            f"the source has {source_type:.80}, which is not read",
            f"remove the column; {reading(source_type).why}",
        )
    if identifies and not reading(source_type).exact:
        raise document.error(
            path,
            f"is a key of {source_type}, whose values can read alike",
            "use an integer or a text",
        )
    if written is None or written == offered:
        return offered
    if not _converts(offered, written, exactly=identifies):
        raise document.error(
            (*path, "type"), f"the source has {source_type}", f"write {str(offered).lower()}"
        )
    return written


def _converts(offered: SqlType, written: SqlType, *, exactly: bool) -> bool:
    """Whether a cast is allowed: among numbers or among times; `exactly`: among integers only."""
    match offered, written:
        case Integer(), Integer():
            return True
        case ((Integer() | Decimal() | Double()), (Integer() | Decimal() | Double())):
            return not exactly
        case ((Date() | Timestamp()), (Date() | Timestamp())):
            return not exactly
        case _:
            return False
