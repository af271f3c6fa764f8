"""The rows of a table, each with its unit, in parts of units that memory has room for.

Some parts are read from the source one by one, each by a scan of all rows. Of more, all rows are
read once, and wait in files beside the sidecar that is made, one for each part. There the rows are
as safe as in the sidecar itself, which has them, too: nobody but its owner can read the folder, and
it is removed however the process ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from math import ceil
from pathlib import Path
from types import MappingProxyType
from typing import Final

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import ipc

from dpsql.engine.duckdb.statement import quoted
from dpsql.engine.sidecar.listed_texts import FEW, ListedTexts, listed, listed_texts
from dpsql.engine.sidecar.row_columns import ROW_NUMBER, UNIT_COLUMN, SidecarTable
from dpsql.engine.sidecar.side_by_side import side_by_side

Columns = dict[str, pa.Array]
"""Rows by their columns, each in one piece, which whoever uses them takes away one by one."""

_AT_ONCE: Final = 3_100_000
_BYTES_AT_ONCE: Final = 640_000_000
"""Rows that are counted and put in order at a time, and bytes of them as Arrow: about a third of
the memory that it takes. All rows of a unit are among them, however many it has."""

_BATCH: Final = 1_000_000
"""Rows that come from DuckDB in one batch. Of few batches little is left to put into one piece,
which for smaller ones took a third of what it takes to read."""

_SAMPLED: Final = 20_000
"""Rows of a table by whose bytes it is told how many others are read at a time."""

_READ_AGAIN: Final = 12
"""So many parts take less time to be read from the source than to wait in files: of TPC-H's lines,
a scan for one part takes a sixteenth of that from DuckDB's own file, a twelfth from Parquet."""

_FILE_LIMIT: Final = 500
"""Of more files at once, a process may not have room. Parts are longer then."""

_SPLIT: Final = 6
"""Of a part's rows, so many parts are split at a time."""

_FAITHFUL: Final = frozenset(
    [
        *("BOOLEAN", "DATE", "DOUBLE", "FLOAT", "TIMESTAMP", "VARCHAR"),
        *("TINYINT", "SMALLINT", "INTEGER", "BIGINT"),
        *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"),
    ]
)
"""Types whose values come back from Arrow as they were; so do decimals. Others are sent as texts:
integers of 128 bits would be decimals, and UHUGEINT has more values than those."""

_POOL: Final = pa.system_memory_pool()
"""What large arrays are made in. Arrow's own pool gives memory back and asks for it anew, which was
a tenth of the time of preparing TPC-H."""

_TEXTS_SAMPLED: Final = 50_000
"""Texts of a part by which it is told whether they have few values."""

_PART: Final = ROW_NUMBER
"""The column that tells which part a row is of: a name that the table doesn't have."""

_HASH: Final = f"hash({quoted(UNIT_COLUMN)})"
"""By this integer of 64 bits it is told which part a unit is of."""


def rows_at_once(connection: duckdb.DuckDBPyConnection, table: str) -> int:
    """How many rows of `table` memory has room for; it changes no row of the file."""
    first = connection.sql(f"FROM {quoted(table)} LIMIT {_SAMPLED}").to_arrow_table()
    row_bytes = int(first.nbytes) // max(1, int(first.num_rows))
    return max(1, min(_AT_ONCE, _BYTES_AT_ONCE // max(1, row_bytes)))


def number_of_parts(connection: duckdb.DuckDBPyConnection, table: str) -> int:
    """In how many parts the rows of `table` are counted."""
    ((rows,),) = connection.execute(f"SELECT count(*) FROM {quoted(table)}").fetchall()  # noqa: S608
    return min(_FILE_LIMIT, max(1, ceil(int(rows) / rows_at_once(connection, table))))


def in_parts(
    connection: duckdb.DuckDBPyConnection, contents: SidecarTable, number: int, folder: Path | None
) -> Iterator[Columns]:
    """The rows in this `number` of parts; they may wait in `folder`, which nobody else can read.

    The connection can be used between two parts.
    """
    texts = listed_texts(connection, contents.name, described(connection, contents.rows))
    if folder is None or number <= _READ_AGAIN:
        for each in range(number):
            yield rows_of(connection, contents, is_of_part(each, number), texts)
        return
    files = [folder / f"part {each}" for each in range(number)]
    some = ceil(rows_at_once(connection, contents.name) / _SPLIT)
    # All rows are read here, so that a remainder has none read that would be left out.
    numbered = f", CAST({_HASH} % {number} AS USMALLINT) AS {quoted(_PART)}"
    select = _select(connection, contents, "true", texts, numbered)
    _split(connection.sql(select).to_arrow_reader(some), files)
    for file in files:
        yield _waited(file)


def is_of_part(part: int, number: int) -> str:
    """The condition that a row's unit is of this part, from 0 on, of so many.

    It has no arithmetic, which might fail: DuckDB would decide on it behind the joins that lead to
    the unit, and read all columns of rows of other parts.
    """
    first, end = (each * 2**64 // number for each in (part, part + 1))
    return f"{_HASH} BETWEEN CAST({first} AS UBIGINT) AND CAST({end - 1} AS UBIGINT)"


def has_narrow_decimals() -> bool:
    """Whether this pyarrow takes and compares decimals of 64 bits, which older ones don't."""
    try:
        value = pa.array([1], pa.decimal64(3, 1))
        return bool(pc.all(pc.equal(value, pc.take(value, pa.array([0])))).as_py())
    except (AttributeError, pa.ArrowException):
        return False


def _waited(file: Path) -> Columns:
    """The rows of a part, whose file is removed."""
    with file.open("rb") as stream, ipc.open_stream(stream) as reader:
        rows = reader.read_all()
    file.unlink()
    return _held(rows)


def rows_of(
    connection: duckdb.DuckDBPyConnection,
    contents: SidecarTable,
    chosen: str,
    texts: ListedTexts = MappingProxyType({}),
) -> Columns:
    """The rows that meet `chosen`, an SQL condition that all of a unit's rows meet, or none.

    Of the columns `texts` those are NULL that aren't listed, of which the source must have none.
    """
    select = _select(connection, contents, chosen, texts)
    return _held(connection.sql(select).to_arrow_table(_BATCH))


def described(connection: duckdb.DuckDBPyConnection, select: str) -> Mapping[str, str]:
    """The types of the columns of `select`, by name."""
    rows = connection.execute(f"DESCRIBE {select}").fetchall()
    return {str(name): str(kind) for name, kind, *_ in rows}


def typed(types: Mapping[str, str], relation: str) -> str:
    """The rows of `relation`, which has what was read, their columns as they were."""
    cast = ", ".join(
        f"CAST({quoted(name)} AS {kind}) AS {quoted(name)}" for name, kind in types.items()
    )
    return f"(SELECT * REPLACE ({cast}) FROM {quoted(relation)})"  # noqa: S608


def _select(
    connection: duckdb.DuckDBPyConnection,
    contents: SidecarTable,
    chosen: str,
    texts: ListedTexts,
    added: str = "",
) -> str:
    types = described(connection, contents.rows)
    read = {
        name: quoted(name) if _is_faithful(kind) else f"CAST({quoted(name)} AS VARCHAR)"
        for name, kind in types.items()
    }
    read |= {name: listed(name, enum) for name, enum in texts.items()}
    items = [f"{read[name]} AS {quoted(name)}" for name in types]
    items += [f"{month} AS {quoted(name)}" for name, month in contents.months]
    # A subquery, so that conditions read columns and not items of their names.
    rows = f"(SELECT * FROM ({contents.rows}) WHERE {quoted(UNIT_COLUMN)} IS NOT NULL AND {chosen})"  # noqa: S608
    return f"SELECT {', '.join(items)}{added} FROM {rows} AS t"  # noqa: S608


def _is_faithful(kind: str) -> bool:
    return kind in _FAITHFUL or kind.startswith("DECIMAL(")


def _split(rows: pa.RecordBatchReader, files: list[Path]) -> None:
    """Write each of `rows` to the file of its part."""
    names = [name for name in rows.schema.names if name != _PART]
    schema = pa.schema([rows.schema.field(name) for name in names])
    options = ipc.IpcWriteOptions(compression="lz4")
    with ExitStack() as stack:
        writers = [
            stack.enter_context(
                ipc.new_stream(stack.enter_context(file.open("xb")), schema, options=options)
            )
            for file in files
        ]
        for batch in rows:
            part = batch.column(_PART).to_numpy()
            order = np.argsort(part, kind="stable")
            sorted_rows = batch.select(names).take(pa.array(order))
            ends = np.searchsorted(part[order], np.arange(len(files)), side="right").tolist()
            for writer, start, end in zip(writers, [0, *ends], ends, strict=False):
                writer.write_batch(sorted_rows.slice(start, end - start))


def _held(rows: pa.Table) -> Columns:
    return dict(zip(rows.column_names, side_by_side(_in_one_piece, rows.columns), strict=True))


def _in_one_piece(column: pa.ChunkedArray) -> pa.Array:
    """`column` in one piece, and as numbers of its values where it is of texts with few of them."""
    # ChunkedArray.combine_chunks takes a pool, and doesn't use it.
    chunks = column.chunks or [pa.array([], column.type)]
    whole = chunks[0] if len(chunks) == 1 else pa.concat_arrays(chunks, memory_pool=_POOL)
    is_text = pa.types.is_string(whole.type) or pa.types.is_large_string(whole.type)
    if is_text and len(whole.slice(0, _TEXTS_SAMPLED).unique()) <= FEW:
        return pc.dictionary_encode(whole, memory_pool=_POOL)
    return whole
