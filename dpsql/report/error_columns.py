"""Columns of 95 % half-widths next to the noisy columns that they belong to."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from dpsql.report.result.result import Result, unique_names
from dpsql.schema.sql_type import Double, SqlType
from dpsql.session.answer.answer import HalfWidth

PLUS_MINUS = "±"


def half_width_rows(result: Result, rows: int) -> list[list[float | None] | None]:
    """For each column the half-widths of its first `rows` values, None for columns without any."""
    widths = result.half_widths or (None,) * len(result.names)
    return [_of_rows(each, rows) for each in widths]


def clamped_rows(result: Result, rows: int) -> list[list[bool]]:
    """For each column whether its first `rows` values stand at an end of all that they can be."""
    clamped = result.clamped or (None,) * len(result.names)
    return [[False] * rows if each is None else each.slice(0, rows).to_pylist() for each in clamped]


def with_error_columns(result: Result) -> Result:
    """`result` with a column "n ±" of half-widths beside each column "n" that has some.

    A half-width is NULL where the value is. That of a mean is the distance to the farther end of
    its interval, whose ends are dp_interval_low(avg(x)) and dp_interval_high(avg(x)).
    """
    if all(widths is None for widths in result.half_widths):
        return result
    names: list[str] = []
    types: list[SqlType] = []
    arrays: list[pa.ChunkedArray] = []
    for index, widths in enumerate(result.half_widths):
        column = result.table.column(index)
        names.append(result.names[index])
        types.append(result.types[index])
        arrays.append(column)
        if widths is not None:
            names.append(f"{result.names[index]} {PLUS_MINUS}")
            types.append(Double())
            arrays.append(pa.chunked_array([_of_column(widths, column)]))
    table = pa.table(arrays, names=unique_names(names))
    return replace(result, names=tuple(names), types=tuple(types), table=table, half_widths=())


def _of_rows(widths: HalfWidth, rows: int) -> list[float | None] | None:
    if widths is None:
        return None
    by_row: list[float | None] = (
        [widths] * rows if isinstance(widths, float) else widths.slice(0, rows).to_pylist()
    )
    return by_row


def _of_column(widths: HalfWidth, column: pa.ChunkedArray) -> pa.Array:
    by_row = np.array(
        [np.nan if width is None else width for width in _of_rows(widths, len(column)) or []],
        dtype=np.float64,
    )
    by_row[np.asarray(column.is_null().to_numpy(), dtype=np.bool_)] = np.nan
    return pa.array(by_row, mask=np.isnan(by_row))
