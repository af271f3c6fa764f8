"""Opens rows that are nobody's secret: those of public tables, or computed from released ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import pyarrow as pa

from dpsql.analysis.lineage.lineage import Visibility, visibility
from dpsql.engine.raw import Raw
from dpsql.plan.operator import Plan

_ENDS: Final[Mapping[pa.DataType, tuple[np.dtype[Any], int, int]]] = {
    pa.date32(): (np.dtype("<i4"), -719_162, 2_932_896),
    pa.timestamp("us"): (np.dtype("<i8"), -62_135_596_800_000_000, 253_402_300_799_999_999),
}
"""The NumPy type of stored dates and timestamps, and the first and last of the years 1 to 9999.

Dates are in days, timestamps in microseconds since 1970.
"""


def open_rows(plan: Plan, raw: Raw) -> pa.Table:
    """The rows of `plan`, below which private rows are only under a release.

    Dates and timestamps beyond the years 1 to 9999 become NULL: DuckDB has them, and Python
    doesn't. Raises ValueError if the plan's rows are private.
    """
    if visibility(plan) is Visibility.PRIVATE:
        raise ValueError("the plan reads private rows")
    columns = [_clipped_years(column) for column in raw.table.columns]
    return pa.table(columns, names=raw.table.column_names) if columns else raw.table


def _clipped_years(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_list(column.type):
        return pa.chunked_array([_listed(chunk) for chunk in column.chunks], column.type)
    if column.type not in _ENDS:
        return column
    return pa.chunked_array([_chunk(chunk) for chunk in column.chunks], column.type)


def _listed(chunk: pa.ListArray) -> pa.ListArray:
    values = _clipped_years(pa.chunked_array([chunk.values])).combine_chunks()
    if isinstance(values, pa.ChunkedArray):
        return chunk  # no values at all
    buffers = [*chunk.buffers()[:2]]
    return pa.Array.from_buffers(
        chunk.type, len(chunk), buffers, offset=chunk.offset, children=[values]
    )


def _chunk(chunk: pa.Array) -> pa.Array:
    kind, first, last = _ENDS[chunk.type]
    stored = chunk.buffers()[1]
    if stored is None:
        return chunk
    # Where a value is NULL anything may be stored.
    numbers = np.frombuffer(stored, kind)[chunk.offset : chunk.offset + len(chunk)]
    there = (numbers >= first) & (numbers <= last)
    if there.all():
        return chunk
    missing = ~there | np.asarray(chunk.is_null().to_numpy(zero_copy_only=False))
    return pa.array(numbers, mask=missing).view(chunk.type)
