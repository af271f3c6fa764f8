"""The rows of one table, from the server into DuckDB, batch by batch.

DuckDB's own limit of memory bounds what is held; of what is on its way, there is one batch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import duckdb
import pyarrow as pa

from dpsql.engine.postgres.catalog import CatalogTable
from dpsql.engine.postgres.column_types import ColumnReading, reading
from dpsql.engine.postgres.connection import ServerConnection, quoted
from dpsql.engine.source import ServerTable
from dpsql.errors import ExecutionCancelled, InternalError, SourceFault

_STREAM: Final = "dpsql stream"
"""What the rows on their way are called; no declared name has a space."""


class PulledColumn(NamedTuple):
    """A column by the name that statements use, with what the server has."""

    name: str
    declared: str
    own: str
    known: ColumnReading


def pulled_columns(
    table: ServerTable, relation: CatalogTable, names: Sequence[str]
) -> tuple[PulledColumn, ...]:
    """The columns `names` of `table`, which were checked against the catalog."""
    columns = []
    for name, declared, own in table.stored:
        if name in names:
            known = reading(relation.columns[own].type)
            if known is None:
                raise InternalError(f"{own} was not checked")
            columns.append(PulledColumn(name, declared, own, known))
    return tuple(columns)


def select_sql(table: ServerTable, relation: CatalogTable, columns: Sequence[PulledColumn]) -> str:
    """The one SELECT of rows that a server is sent: quoted names, and expressions of ours."""
    items = [
        f"{column.known.sent.format(quoted(column.own))} AS c{number}"
        for number, column in enumerate(columns)
    ]
    only = "ONLY " if relation.kind == "r" else ""
    space, name = map(quoted, table.location)
    # The text is made of the catalog's names and of constants alone.
    return f"SELECT {', '.join(items) or 'true AS c0'} FROM {only}{space}.{name}"  # noqa: S608


def batches(
    server: ServerConnection, reader: pa.RecordBatchReader, columns: Sequence[PulledColumn]
) -> Iterator[pa.RecordBatch]:
    """The rows that `reader` has, with numbers of days and microseconds as what they are."""
    kinds = [column.known.arrow for column in columns] or [None]
    for batch in server.batches(reader):
        arrays = [
            array if kind is None else array.view(kind)
            for array, kind in zip(batch.columns, kinds, strict=True)
        ]
        yield pa.RecordBatch.from_arrays(arrays, batch.schema.names)


def pull(
    cursor: duckdb.DuckDBPyConnection,
    server: ServerConnection,
    table: ServerTable,
    relation: CatalogTable,
    names: Sequence[str],
) -> None:
    """Make the temporary table that statements on `cursor` read as `table`, with columns `names`.

    What the server failed to send is a `SourceFault` or `ExecutionCancelled`; what DuckDB can't
    take is DuckDB's error.
    """
    columns = pulled_columns(table, relation, names)
    failed: list[SourceFault | ExecutionCancelled] = []
    with server.stream(select_sql(table, relation, columns)) as reader:
        schema = _schema(reader.schema, columns)

        def rows() -> Iterator[pa.RecordBatch]:
            try:
                for batch in batches(server, reader, columns):
                    yield batch.cast(schema)
            except (SourceFault, ExecutionCancelled) as error:
                failed.append(error)
                raise

        cursor.register(_STREAM, pa.RecordBatchReader.from_batches(schema, rows()))
        try:
            cursor.execute(_create_sql(table, columns))
        except duckdb.Error:
            if not failed:
                raise
        finally:
            cursor.unregister(_STREAM)
    if failed:
        # Out here no exception chain leads back to DuckDB's message.
        raise failed[0]


def _schema(sent: pa.Schema, columns: Sequence[PulledColumn]) -> pa.Schema:
    """The names and types of what is on its way, without what the driver says of each column."""
    kinds = [column.known.arrow for column in columns] or [None]
    return pa.schema(
        [
            (field.name, field.type if kind is None else kind)
            for field, kind in zip(sent, kinds, strict=True)
        ]
    )


def _create_sql(table: ServerTable, columns: Sequence[PulledColumn]) -> str:
    items = [_item(f"c{number}", column) for number, column in enumerate(columns)]
    name = quoted(table.name)
    # The text is made of the schema's names and types alone.
    return (
        f"CREATE OR REPLACE TEMP TABLE {name} AS"  # noqa: S608
        f" SELECT {', '.join(items) or f'c0 AS {quoted(_STREAM)}'} FROM {quoted(_STREAM)}"
    )


def _item(sent: str, column: PulledColumn) -> str:
    """What doesn't fit is NULL, row by row, and never an error."""
    value = f"TRY_CAST({sent} AS {column.known.type})"
    if column.known.is_text_of_number:
        # Digits would be lost on the way through a double.
        value = f"TRY_CAST({sent} AS {column.declared})"
    elif column.declared != column.known.type:
        value = f"TRY_CAST({value} AS {column.declared})"
    return f"{value} AS {quoted(column.name)}"
