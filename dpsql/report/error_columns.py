"""Columns of 95 % half-widths, and of expected biases, next to the noisy columns they are of."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from dpsql.report.result.result import Result, unique_names
from dpsql.schema.sql_type import Double, SqlType
from dpsql.session.answer.answer import ColumnErrors, HalfWidth
from dpsql.structs import replace

PLUS_MINUS = "±"
BIAS = ("bias", "bias low", "bias high")
"""What limits leave out, as ladders let expect, and the ends of its 90 % interval."""


def half_width_rows(result: Result, rows: int) -> list[list[float | None] | None]:
    """For each column the half-widths of its first `rows` values, None for columns without any."""
    widths = result.half_widths or (None,) * len(result.names)
    return [_of_rows(each, rows) for each in widths]


def clamped_rows(result: Result, rows: int) -> list[list[bool]]:
    """For each column whether its first `rows` values stand at an end of all that they can be."""
    clamped = result.clamped or (None,) * len(result.names)
    return [[False] * rows if each is None else each.slice(0, rows).to_pylist() for each in clamped]


def bias_rows(result: Result, rows: int) -> list[list[tuple[float, float, float] | None] | None]:
    """For each column what limits leave out of its first `rows` values: expected, low and high.

    None for columns, and for values, of which no ladder tells that.
    """
    columns: list[list[tuple[float, float, float] | None] | None] = []
    for one in result.biases or (None,) * len(result.names):
        parts = [] if one is None else [one.expected, one.low, one.high]
        by_row = [_of_rows(part, rows) or [None] * rows for part in parts]
        columns.append([_known(*each) for each in zip(*by_row, strict=True)] if by_row else None)
    return columns


def with_error_columns(result: Result) -> Result:
    """`result` with a column "n ±" of half-widths beside each column "n" that has some.

    A half-width is NULL where the value is. That of a mean is the distance to the farther end of
    its interval, whose ends are dp_interval_low(avg(x)) and dp_interval_high(avg(x)). Where ladders
    tell what limits leave out of some column, "n bias", "n bias low" and "n bias high" stand beside
    each "n ±": NULL where none tells that.
    """
    if all(widths is None for widths in result.half_widths):
        return result
    biases = result.biases or (None,) * len(result.names)
    has_biases = any(bias is not None for bias in biases)
    names: list[str] = []
    types: list[SqlType] = []
    arrays: list[pa.ChunkedArray] = []
    for index, (widths, bias) in enumerate(zip(result.half_widths, biases, strict=True)):
        column, name = result.table.column(index), result.names[index]
        names.append(name)
        types.append(result.types[index])
        arrays.append(column)
        errors: list[tuple[str, HalfWidth]] = []
        if widths is not None:
            errors.append((PLUS_MINUS, widths))
        if has_biases and (widths is not None or bias is not None):
            parts = (None,) * len(BIAS) if bias is None else (bias.expected, bias.low, bias.high)
            errors += zip(BIAS, parts, strict=True)
        for label, values in errors:
            names.append(f"{name} {label}")
            types.append(Double())
            arrays.append(pa.chunked_array([_of_column(values, column)]))
    table = pa.table(arrays, names=unique_names(names))
    return replace(result, names=tuple(names), types=tuple(types), table=table, errors=ColumnErrors)


def _known(
    expected: float | None, low: float | None, high: float | None
) -> tuple[float, float, float] | None:
    return None if expected is None or low is None or high is None else (expected, low, high)


def _of_rows(widths: HalfWidth, rows: int) -> list[float | None] | None:
    if widths is None:
        return None
    by_row: list[float | None] = (
        [widths] * rows if isinstance(widths, float) else widths.slice(0, rows).to_pylist()
    )
    return by_row


def _of_column(widths: HalfWidth, column: pa.ChunkedArray) -> pa.Array:
    by_row = np.array(
        [
            np.nan if width is None else width
            for width in _of_rows(widths, len(column)) or [None] * len(column)
        ],
        dtype=np.float64,
    )
    by_row[np.asarray(column.is_null().to_numpy(), dtype=np.bool_)] = np.nan
    return pa.array(by_row, mask=np.isnan(by_row))
