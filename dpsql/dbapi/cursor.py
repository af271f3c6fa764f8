"""`Cursor`: statements in, rows out (PEP 249)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING, Protocol, Self

import pyarrow as pa

from dpsql.bind.syntax.parameter import Parameters as Literals
from dpsql.bind.syntax.parameter import literals
from dpsql.errors import InterfaceError, NotSupportedError, ProgrammingError
from dpsql.report.error_columns import (
    bias_rows,
    clamped_rows,
    half_width_rows,
    with_error_columns,
)
from dpsql.report.result.python_value import Row, python_rows
from dpsql.report.result.result import Description, Result, unique_names
from dpsql.schema.sql_type import HUGEINT
from dpsql.session.answer.answer import Privacy

if TYPE_CHECKING:
    import pandas as pd
    from polars import DataFrame as PolarsFrame

Parameters = Sequence[object] | Mapping[str, object]


class Runner(Protocol):
    """What a cursor needs of its connection."""

    def run(self, sql: str, parameters: Literals) -> Result | None:
        """What `sql` answers, None for a statement without an answer."""


class Cursor:
    """Runs statements and reads their answers. A cursor belongs to one thread."""

    def __init__(self, connection: Runner, result: Result | None = None) -> None:
        self.connection = connection
        self.arraysize = 1
        self._result = result
        self._rows: list[Row] | None = None
        self._next = 0
        self._open = True

    @property
    def description(self) -> tuple[Description, ...] | None:
        """Names and types of the answer's columns, known from the statement alone."""
        return None if self._result is None else self._result.description

    @property
    def rowcount(self) -> int:
        """The number of rows of the answer; -1 if there is none."""
        return -1 if self._result is None else self._result.table.num_rows

    @property
    def rownumber(self) -> int | None:
        """Which row comes next, from 0."""
        return None if self._result is None else self._next

    @property
    def privacy(self) -> Privacy | None:
        """What the answer cost and how noisy it is; None if no query was answered."""
        return None if self._result is None else self._result.privacy

    @property
    def half_widths(self) -> list[list[float | None] | None] | None:
        """For each column how far noise may have moved the value of each row, with 95 %.

        None for columns that have no noise, or whose error isn't known from the noise alone.
        """
        if self._result is None:
            return None
        return half_width_rows(self._result, self._result.table.num_rows)

    @property
    def biases(self) -> list[list[tuple[float, float, float] | None] | None] | None:
        """For each column what limits leave out of each value: expected, and low and high of 90 %.

        None for columns, and values, of which no ladder tells that: what limits that were declared
        or are defaults leave out isn't known.
        """
        return None if self._result is None else bias_rows(self._result, self.rowcount)

    @property
    def clamped(self) -> list[list[bool]]:
        """For each column which of its values stand at an end of all that they can be.

        Noise has put them there: a deviation of 0, or a mean at its column's bound.
        """
        return [] if self._result is None else clamped_rows(self._result, self.rowcount)

    def again(self) -> Self:
        """The same answer from its first row on."""
        return type(self)(self.connection, self._answer())

    def with_errors(self) -> Self:
        """The same answer from its first row on, with 95 % half-widths as columns of their own.

        Beside each column "n" that has them stands "n ±", however the rows are fetched then. Where
        ladders chose limits, "n bias" beside it is what these leave out, as expected, and "n bias
        low" and "n bias high" are the ends of its 90 % interval; NULL where that can't be told.
        """
        return type(self)(self.connection, with_error_columns(self._answer()))

    def execute(self, sql: str, parameters: Parameters | None = None) -> Self:
        """Run one statement and return this cursor. What it costs is charged before it runs.

        `parameters` are the values of `?`, in order, of `$1`, by number, or of `:name`, by name.
        """
        self._check_open()
        self._forget()
        if not isinstance(sql, str):
            raise ProgrammingError("a statement is a text", hint='write execute("SELECT …")')
        self._result = self.connection.run(sql, literals(() if parameters is None else parameters))
        return self

    def executemany(self, sql: str, parameters: Sequence[Parameters]) -> Self:  # noqa: ARG002
        """Only there because PEP 249 asks for it: it exists for statements that write."""
        self._check_open()
        raise NotSupportedError(
            "executemany isn't supported: there are no statements that write",
            hint="call execute once for each query",
        )

    def fetchone(self) -> Row | None:
        """The next row, None after the last."""
        rows = self._fetch(1)
        return rows[0] if rows else None

    def fetchmany(self, size: int | None = None) -> list[Row]:
        """The next `size` rows (`arraysize` if not given), fewer at the end."""
        return self._fetch(self.arraysize if size is None else size)

    def fetchall(self) -> list[Row]:
        """All rows that are left."""
        return self._fetch(None)

    def fetch_arrow_table(self) -> pa.Table:
        """The rows that are left as an Arrow table.

        Names that repeat get a number (a, a_1). HUGEINT, which Arrow lacks, is decimal128(38, 0).
        """
        result = self._answer()
        table = result.table.slice(self._next).rename_columns(unique_names(result.names))
        self._next = result.table.num_rows
        return table

    def fetch_df(self) -> pd.DataFrame:
        """The rows that are left as a pandas DataFrame; decimals become float64, as in DuckDB."""
        self._answer()
        _need("pandas", "fetch_df")
        table = self.fetch_arrow_table()
        kinds = [
            pa.float64() if pa.types.is_decimal(field.type) else field.type
            for field in table.schema
        ]
        cast = table.cast(pa.schema(list(zip(table.column_names, kinds, strict=True))))
        frame: pd.DataFrame = cast.to_pandas()
        return frame

    def pl(self) -> PolarsFrame:
        """The rows that are left as a Polars DataFrame; HUGEINT becomes Int128."""
        result = self._answer()
        polars = _need("polars", "pl")
        types = {
            name: polars.Int128
            for name, kind in zip(unique_names(result.names), result.types, strict=True)
            if kind == HUGEINT
        }
        frame: PolarsFrame = polars.from_arrow(self.fetch_arrow_table()).cast(types)
        return frame

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The rows that are left for any reader of Arrow's PyCapsule interface."""
        capsule: object = self.fetch_arrow_table().__arrow_c_stream__(requested_schema)
        return capsule

    def _repr_html_(self) -> str | None:
        """What a notebook shows: the first rows, their errors, and what the answer cost."""
        if self._result is None:
            return None
        from dpsql.report.html.answer import answer_page  # noqa: PLC0415 - few need it

        return answer_page(self._result)

    def setinputsizes(self, sizes: Sequence[object]) -> None:
        """Nothing: PEP 249 lets it be so."""

    def setoutputsize(self, size: int, column: int | None = None) -> None:
        """Nothing: PEP 249 lets it be so."""

    def close(self) -> None:
        """Let go of the answer; the cursor runs nothing afterwards."""
        self._forget()
        self._open = False

    def __iter__(self) -> Iterator[Row]:
        return iter(self.fetchone, None)

    def __enter__(self) -> Self:
        self._check_open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _fetch(self, size: int | None) -> list[Row]:
        result = self._answer()
        if self._rows is None:
            self._rows = python_rows(result.table, result.types)
        end = len(self._rows) if size is None else self._next + max(size, 0)
        rows = self._rows[self._next : end]
        self._next += len(rows)
        return rows

    def _answer(self) -> Result:
        self._check_open()
        if self._result is None:
            raise InterfaceError("there is no answer to fetch", hint="execute a query first")
        return self._result

    def _forget(self) -> None:
        self._result = None
        self._rows = None
        self._next = 0

    def _check_open(self) -> None:
        if not self._open:
            raise InterfaceError("the cursor is closed", hint="make another with cursor()")


def _need(package: str, what: str) -> ModuleType:
    try:
        return import_module(package)
    except ImportError:
        raise NotSupportedError(
            f"{what} needs {package}, which isn't installed",
            hint=f"run pip install {package}, or call fetch_arrow_table()",
        ) from None
