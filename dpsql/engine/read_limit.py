"""How many rows and bytes one statement may return: of public rows, and of answers."""

from __future__ import annotations

from typing import Final

import pyarrow as pa
from msgspec import Struct

from dpsql.errors import TooComplex


class MoreRowsError(Exception):
    """A statement has more rows than `limit`; as a part was read, its cursor may be busy."""

    def __init__(self, limit: ReadLimit) -> None:
        super().__init__()
        self.limit: Final = limit


class ReadLimit(Struct, frozen=True):
    """The largest number of rows, and of bytes as Arrow."""

    rows: int
    bytes: int

    def read(self, reader: pa.RecordBatchReader) -> pa.Table:
        """All rows of `reader`; raises MoreRowsError if they are more: reading stops there."""
        batches: list[pa.RecordBatch] = []
        rows = size = 0
        for batch in reader:
            batches.append(batch)
            rows, size = rows + batch.num_rows, size + batch.nbytes
            if rows > self.rows or size > self.bytes:
                raise MoreRowsError(self)
        return pa.Table.from_batches(batches, reader.schema)

    def passed(self) -> TooComplex:
        """The error for a statement with more rows or bytes."""
        return TooComplex(
            f"the public rows are more than {self.rows:,} rows or {self.bytes // 2**20} MiB",
            hint="add a LIMIT, select fewer or shorter columns, or group the rows",
        )


class AnswerLimit(ReadLimit, frozen=True):
    """The largest answer that the schema allows, and the largest release that one is made of.

    Released rows tell it, and no others: those that noise selects are as public as the answer.
    """

    def check(self, table: pa.Table) -> None:
        """Raise `passed` if `table` is larger."""
        if table.num_rows > self.rows or self._has_more_bytes(table):
            raise self.passed()

    def _has_more_bytes(self, table: pa.Table) -> bool:
        # Arrow takes 25 µs to add up what three columns refer to, and 1 µs for their whole buffers:
        # in a column each has as many chunks as rows at most.
        parts = table.num_columns * (table.num_rows + 1)
        return bool(
            parts * table.get_total_buffer_size() > self.bytes and table.nbytes > self.bytes
        )

    def passed(self) -> TooComplex:
        """The error for a larger answer, which may have been charged."""
        return self._error(f"is larger than {self}", "what was charged for it stands")

    def known(self) -> TooComplex:
        """The error for an answer that is known to be larger before it is charged.

        How many rows it would have isn't told: a view may hide what it is grouped by.
        """
        return self._error(
            f"would have more rows by its keys alone than {self}", "nothing was charged"
        )

    def __str__(self) -> str:
        return f"{self.rows:,} rows and {self.bytes // 10**6:,} MB"

    def _error(self, what: str, detail: str) -> TooComplex:
        return TooComplex(
            f"the answer, or a release that it is made of, {what}",
            detail=detail,
            hint="group by fewer keys, or read fewer rows; the owner can raise per_query.max_rows"
            " and max_megabytes",
        )


LARGEST_ANSWER: Final = AnswerLimit(10_000_000, 10**9)
"""Where the schema says nothing."""
