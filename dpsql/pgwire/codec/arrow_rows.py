"""Rows that stay in Arrow until they are read: a value in Python takes many times its bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Final, overload

import pyarrow as pa

_AT_ONCE: Final = 1024

Row = tuple[object, ...]


class ArrowRows(Sequence[Row]):
    """The rows of an Arrow table; a row becomes Python objects when it is read."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __len__(self) -> int:
        return int(self._table.num_rows)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> ArrowRows: ...
    def __getitem__(self, index: int | slice) -> Row | ArrowRows:
        if isinstance(index, int):
            return next(iter(ArrowRows(self._table.slice(range(len(self))[index], 1))))
        start, stop, _ = index.indices(len(self))
        return ArrowRows(self._table.slice(start, max(0, stop - start)))

    def __iter__(self) -> Iterator[Row]:
        for start in range(0, len(self), _AT_ONCE):
            part = self._table.slice(start, _AT_ONCE)
            yield from zip(*map(_values, part.columns), strict=True)


def _values(column: pa.ChunkedArray) -> Sequence[object]:
    values: list[object] = column.to_pylist()
    if pa.types.is_decimal(column.type) and column.type.scale == 0:
        # Arrow has no integer of 128 bits; decimals without a fraction hold them exactly.
        return [int(value) if isinstance(value, Decimal) else value for value in values]
    return values
