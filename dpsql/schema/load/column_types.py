"""Types that the schema leaves out, from the source's catalogue; the source as the engine opens it.

Names and types only: what else a catalogue knows (an ENUM's labels, NOT NULL, statistics, folders
of a partition) follows from rows, and is declared by the owner or not known.
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
"""Who asks the catalogue: this process, or one that alone may open the source."""


def engine_source(schema: Schema) -> DuckDBSource:
    """Describe the source to the engine: of each table the declared columns, and nothing else."""
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
    """Ask the source's catalogue; None where the source isn't there yet.

    A schema that declares every type can then be read, explained and tested without any data.
    """
    if not source.path.exists():
        return None
    if source.files:
        tables = tuple(SourceTable(name, str(file)) for name, file in source.files.items())
        found = read(DuckDBSource(None, tables))
    else:
        found = read(DuckDBSource(str(source.path)))
    return {table: dict(columns) for table, columns in found.items()}


def known_type(source_type: str) -> SqlType | None:
    """Name the type under which a column of the source is offered, None if there is none."""
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
    """Settle a column's type from what is declared and what the source has (None: not there).

    `identifies`: keys and unit columns are offered as they are, since a cast could make one unit of
    two ('7' and '07'). A CSV file has only text, and then the cast is what its identities mean.
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
    """Allow casts within numbers and within times; of identities only between integers."""
    match offered, written:
        case Integer(), Integer():
            return True
        case ((Integer() | Decimal() | Double()), (Integer() | Decimal() | Double())):
            return not exactly
        case ((Date() | Timestamp()), (Date() | Timestamp())):
            return not exactly
        case _:
            return False
