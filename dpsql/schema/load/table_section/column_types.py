"""Types and columns that the schema leaves out, from the source's catalogue; and how it is opened.

Names and types only: all else in a catalogue (an ENUM's labels, NOT NULL, statistics, folders of a
partition) follows from rows, and so is declared by the owner or not known.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from typing import assert_never

from dpsql.engine.opening import read_catalog
from dpsql.engine.source import (
    PLAIN_CSV,
    Columns,
    DuckDBSource,
    PostgresSource,
    RowByKey,
    SampledUnit,
    ServerTable,
    SourceSample,
    SourceTable,
    SparkSource,
    UnitColumn,
    UnitOfParent,
)
from dpsql.engine.source import Source as EngineSource
from dpsql.errors import InternalError
from dpsql.schema.load.identifiers import is_plain
from dpsql.schema.load.yaml_document import Document, DocumentPath
from dpsql.schema.model import Column, EntityUnit, Public, RowUnit, Schema, Table
from dpsql.schema.source_location import ServerSource, Source
from dpsql.schema.source_types import reading
from dpsql.schema.sql_type import (
    Date,
    Decimal,
    Double,
    Integer,
    SqlType,
    Timestamp,
    parse_type,
    type_instead,
)
from dpsql.structs import replace

SourceColumns = Mapping[str, Mapping[str, str]]
"""For each table of the source the type names of its columns, in order."""

Read = Callable[[EngineSource], Mapping[str, Columns]]
"""Reads a source's catalogue, in this process or in the one that alone may open the source."""


def engine_source(schema: Schema) -> EngineSource:
    """The source as the engine is to open it: of each table the declared columns, and no others.

    Where answers are of a sample, so is the source, and no engine opens it without the sample's
    key; `whole_source` has all rows.
    """
    match schema.source:
        case ServerSource() as server:
            tables = tuple(_server_table(schema, table) for table in schema.tables.values())
            return _on_server(server, schema.version or "", tables)
        case Source(path=path, files=files, csv=forms, spill=spill):
            return DuckDBSource(
                database=None if files else str(path),
                tables=tuple(
                    SourceTable(
                        name,
                        file=str(files[name]) if files else None,
                        columns=_columns(table),
                        renamed=_renamed(table),
                        csv=forms.get(name, PLAIN_CSV),
                        is_public=isinstance(table.ownership, Public),
                    )
                    for name, table in schema.tables.items()
                ),
                sample=_sample(schema),
                spill=spill,
            )
        case missing:
            assert_never(missing)


def whole_source(schema: Schema) -> EngineSource:
    """The source with all rows, also where answers are of a sample: for the owner's commands."""
    return engine_source(with_all_units(schema))


def with_all_units(schema: Schema) -> Schema:
    """`schema` as its owner reads its rows: all of them, where answers are of a sample, too."""
    return replace(schema, budget=replace(schema.budget, sample=None))


def _sample(schema: Schema) -> SourceSample | None:
    """The units that answers are of, and how those of each private table are told."""
    sample = schema.budget.sample
    if sample is None:
        return None
    units = ((name, _sampled_unit(schema, table)) for name, table in schema.tables.items())
    known = tuple((name, unit) for name, unit in units if unit is not None)
    return SourceSample(sample.law.threshold, known, sample.key)


def _sampled_unit(schema: Schema, table: Table) -> SampledUnit | None:
    match table.ownership:
        case Public():
            return None
        case RowUnit():
            if table.key is None:
                raise InternalError("rows without a key are in no sample")
            return RowByKey(table.key)
        case EntityUnit(kind=kind, hops=hops, column=column):
            if not hops:
                return UnitColumn(kind, column)
            parent = schema.tables[hops[0].table].ownership
            if parent != EntityUnit(kind, hops[1:], column):
                raise InternalError(f"the units of {table.name} aren't those of its first hop")
            return UnitOfParent(hops[0].table, hops[0].pairs)
        case missing:
            assert_never(missing)


def _on_server(
    source: ServerSource, version: str, tables: tuple[ServerTable, ...]
) -> PostgresSource | SparkSource:
    if source.is_spark:
        return SparkSource(source.url, version, tables, source.session)
    return PostgresSource(source.url, version, tables)


def _server_table(schema: Schema, table: Table) -> ServerTable:
    """A table on a server, with the columns whose equality says whose rows they are."""
    identifying = {
        *(table.key or ()),
        *table.same_unit,
        *(column.name for column in table.columns.values() if column.references is not None),
    }
    if isinstance(table.ownership, EntityUnit):
        identifying |= {*table.ownership.first_hop_columns}
    for other in schema.tables.values():
        hops = other.ownership.hops if isinstance(other.ownership, EntityUnit) else ()
        identifying |= {name for hop in hops if hop.table == table.name for name in hop.key}
        for column in other.columns.values():
            if column.references is not None and column.references.table == table.name:
                identifying.add(column.references.column)
    return ServerTable(
        table.name,
        _columns(table),
        _renamed(table),
        table.key,
        frozenset(identifying),
        is_public=isinstance(table.ownership, Public),
    )


def _columns(table: Table) -> Columns:
    return tuple((column.name, str(column.type)) for column in table.columns.values())


def _renamed(table: Table) -> tuple[tuple[str, str], ...]:
    return tuple(
        (column.name, column.stored_as)
        for column in table.columns.values()
        if column.stored_as != column.name
    )


def find_columns(
    source: Source | ServerSource,
    tables: Iterable[str],
    public: Container[str],
    read: Read = read_catalog,
) -> SourceColumns | None:
    """The columns of `tables`, by the source's catalogue; None if its files don't exist yet.

    Those that are `public` have more: also columns of which one row may fail whoever reads them.

    A schema that declares every type can thus be read, explained and tested without any data. A
    server that can't be reached raises `SourceFault`; of files, more tables may be listed.
    """
    if isinstance(source, ServerSource):
        named = tuple(ServerTable(name, is_public=name in public) for name in tables)
        listed = read(_on_server(source, "", named))
        return {table: dict(columns) for table, columns in listed.items()}
    if not source.path.exists():
        return None
    if source.files:
        files = tuple(
            SourceTable(
                name, str(file), csv=source.csv.get(name, PLAIN_CSV), is_public=name in public
            )
            for name, file in source.files.items()
        )
        catalog = read(DuckDBSource(None, files))
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
        fix = type_instead(declared) or "see the list of types, or leave it out"
        if read is not None:
            fix = f"write {str(read).lower()}, as which it is read, or leave it out"
        raise document.error((*path, "type"), f"{declared} is not a type here", fix)
    if written is None and (source_type is None or is_delimited):
        unknown = "its type is not known without the source"
        why = "a CSV file has no types" if is_delimited else unknown
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
