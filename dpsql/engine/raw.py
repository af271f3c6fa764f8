"""The sealed result of a statement on private rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NoReturn, TypeAlias, final

import pyarrow as pa

IntegerColumns: TypeAlias = Mapping[str, Sequence[int | None]]
"""Columns of few rows, by their names: no array is made of what is soon read number by number."""

Rows: TypeAlias = pa.Table | IntegerColumns


def as_table(rows: Rows) -> pa.Table:
    """`rows` as a table."""
    if isinstance(rows, pa.Table):
        return rows
    return pa.table(list(map(_whole, rows.values())), list(rows))


def _whole(values: Sequence[int | None]) -> pa.Array:
    """An int64 array, or a decimal one if a 128-bit sum doesn't fit: exact in both types."""
    try:
        return pa.array(values, pa.int64())
    except OverflowError:
        return pa.array(values, pa.decimal256(39, 0))


@final
class Raw:
    """Rows before noise: `rows` and `table` are the ways in, and only `release` takes them.

    Nothing that happens by accident shows them: not repr, str or format (the number of columns is
    known from the statement, the number of rows is private), not iteration, comparison or len, and
    it is never pickled or copied, so that it can't leave the process that ran the statement.
    """

    __slots__ = ("_rows",)

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, rows: Rows) -> None:
        self._rows: Final = rows

    @property
    def rows(self) -> Rows:
        """The rows themselves, as they came; only code of the trusted core reads this."""
        return self._rows

    @property
    def table(self) -> pa.Table:
        """The rows as a table; only code of the trusted core reads this."""
        return as_table(self._rows)

    def __repr__(self) -> str:
        rows = self._rows
        return f"Raw({rows.num_columns if isinstance(rows, pa.Table) else len(rows)} columns)"

    def __eq__(self, other: object) -> NoReturn:
        raise TypeError("raw rows are not compared")

    def __bool__(self) -> NoReturn:
        # A truth value would tell whether there are rows.
        raise TypeError("raw rows have no truth value")

    def __reduce__(self) -> NoReturn:
        raise TypeError("raw rows do not leave their process")
