"""Moments of private tables that fail whoever reads them, if one of them is far enough away.

Spark multiplies milliseconds of Parquet files, and seconds of ORC files, and raises below each TRY
of ours where 64 bits don't hold the microseconds: a moment of one unit, some 292,000 years away,
would fail all statements of its column. INT96 is added up, and wraps around. A table has one type
for both units, so that the ends of its files say it, whatever is in them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from dpsql.engine.source import FAILING_ON_SPARK, Columns, ServerTable, SparkSource
from dpsql.engine.spark.session import FileFacts, Relation, SparkServerSession
from dpsql.errors import SourceFault

_ORC: Final = "orc"
_OF_PARQUET_FILES: Final = frozenset({"parquet", "delta"})

_MAGIC: Final = b"PAR1"
_LENGTH: Final = 4
_LINES: Final = 256
_MORE: Final = 8

_MAX_KNOWN: Final = 100_000
_known: dict[FileFacts, frozenset[str]] = {}
"""Columns of files that were looked at, but for those whose moments fail nobody."""


def with_failing_moments(
    session: SparkServerSession,
    source: SparkSource,
    table: ServerTable,
    at: Relation,
    provider: str,
    columns: Columns,
) -> Columns:
    """`columns`, of the type `FAILING_ON_SPARK` where a row may fail whoever reads them.

    Those of a public table may, and those that aren't declared are read by nobody.
    """
    read = None if table.columns is None else {own for _, _, own in table.stored}
    moments = {
        name for name, kind in columns if kind == "TIMESTAMP" and (read is None or name in read)
    }
    if table.is_public or not moments:
        return columns
    if provider == _ORC:
        failing = frozenset(moments)
    elif at.is_path or provider in _OF_PARQUET_FILES:
        failing = _not_known_to_be_safe(session, source, at)
    else:
        # Iceberg's files have microseconds, and its own reader.
        failing = frozenset()
    return tuple(
        (name, FAILING_ON_SPARK if name in failing & moments else kind) for name, kind in columns
    )


def _not_known_to_be_safe(
    session: SparkServerSession, source: SparkSource, at: Relation
) -> frozenset[str]:
    """Columns of which a file has something else than moments that fail nobody."""
    files = session.files_of(at)
    known = {file: _known[file] for file in files if file in _known}
    if new := [file for file in files if file not in known]:
        if len(_known) > _MAX_KNOWN:
            _known.clear()
        known |= _looked_at(source, new)
        _known.update(known)
    return frozenset().union(*(known[file] for file in files))


def _looked_at(source: SparkSource, files: list[FileFacts]) -> Mapping[FileFacts, frozenset[str]]:
    """Of each file the columns that aren't known to be safe."""
    # Of small parts the last one is read alone; statements have a session of other parts.
    session = SparkServerSession(source)
    try:
        session.set("spark.sql.files.maxPartitionBytes", "1m")
        known: dict[FileFacts, frozenset[str]] = {}
        lines = _LINES
        while missing := [file for file in files if file not in known]:
            for file, end in zip(
                missing, session.ends([f.path for f in missing], lines), strict=True
            ):
                if (columns := _unsafe_columns(b"\n".join(end))) is not None:
                    known[file] = columns
                elif len(end) < lines:
                    raise SourceFault(
                        f"a file of {source} can't be read as a Parquet file",
                        hint="write it again, or correct the source",
                    )
            lines *= _MORE
        return known
    finally:
        session.close()


def _unsafe_columns(end: bytes) -> frozenset[str] | None:
    """The columns that a file's footer doesn't say to be safe; None if `end` lacks some of it."""
    if end[-len(_MAGIC) :] != _MAGIC:
        return None
    length = int.from_bytes(end[-len(_MAGIC) - _LENGTH : -len(_MAGIC)], "little")
    footer = end[-len(_MAGIC) - _LENGTH - length :]
    if len(footer) < length + _LENGTH + len(_MAGIC):
        return None
    with (
        suppress(pa.ArrowException, OSError),
        pq.ParquetFile(pa.BufferReader(_MAGIC + footer)) as file,
    ):
        columns = [file.schema.column(number) for number in range(len(file.schema))]
        return frozenset(column.path for column in columns if not _is_safe(column))
    return None


def _is_safe(column: pq.ColumnSchema) -> bool:
    if column.physical_type == "INT96":
        return True
    if column.physical_type != "INT64":
        return False
    kind = json.loads(column.logical_type.to_json())
    return (kind.get("Type"), kind.get("timeUnit")) == ("Timestamp", "microseconds")
