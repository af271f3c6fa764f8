"""The sealed result of a statement on private rows."""

from __future__ import annotations

from typing import Final, NoReturn, final

import pyarrow as pa


@final
class Raw:
    """Rows before noise: `table` is the one way in, and only `release` takes it.

    Nothing that happens by accident shows them: not repr, str or format (the number of columns is
    known from the statement, the number of rows is private), not iteration, comparison or len, and
    it is never pickled or copied, so that it can't leave the process that ran the statement.
    """

    __slots__ = ("_table",)

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, table: pa.Table) -> None:
        self._table: Final = table

    @property
    def table(self) -> pa.Table:
        """The rows themselves; only code of the trusted core reads this."""
        return self._table

    def __repr__(self) -> str:
        return f"Raw({self._table.num_columns} columns)"

    def __eq__(self, other: object) -> NoReturn:
        raise TypeError("raw rows are not compared")

    def __bool__(self) -> NoReturn:
        # A truth value would tell whether there are rows.
        raise TypeError("raw rows have no truth value")

    def __reduce__(self) -> NoReturn:
        raise TypeError("raw rows do not leave their process")
