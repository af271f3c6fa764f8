"""Arrow's values as Python's: int, Decimal, float, str, bool, date, datetime and None."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from decimal import Decimal

import pyarrow as pa

from dpsql.schema.sql_type import Integer, SqlType

Value = int | Decimal | float | str | bool | dt.date | dt.datetime | None
Row = tuple[Value, ...]


def python_rows(table: pa.Table, types: Sequence[SqlType]) -> list[tuple[Value, ...]]:
    """The rows of `table`, whose columns are of `types`."""
    columns = [
        _column(column.to_pylist(), kind) for column, kind in zip(table.columns, types, strict=True)
    ]
    return list(zip(*columns, strict=True))


def _column(values: Iterable[Value], kind: SqlType) -> Iterable[Value]:
    if isinstance(kind, Integer) and kind.bits == 128:
        # Arrow has no integer of 128 bits; decimals without a fraction hold them exactly.
        return [None if value is None else int(value) for value in values]  # type: ignore[arg-type]
    return values
