"""How many public rows and bytes one statement may return."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from dpsql.errors import TooComplex


@dataclass(frozen=True, slots=True)
class ReadLimit:
    """The largest number of rows, and of bytes as Arrow."""

    rows: int
    bytes: int

    def read(self, reader: pa.RecordBatchReader) -> pa.Table | None:
        """All rows of `reader`, None if they are more than the limit: reading stops there."""
        batches: list[pa.RecordBatch] = []
        rows = size = 0
        for batch in reader:
            batches.append(batch)
            rows, size = rows + batch.num_rows, size + batch.nbytes
            if rows > self.rows or size > self.bytes:
                return None
        return pa.Table.from_batches(batches, reader.schema)

    def passed(self) -> TooComplex:
        """The error for a statement with more rows or bytes."""
        return TooComplex(
            f"the public rows are more than {self.rows:,} rows or {self.bytes // 2**20} MiB",
            hint="add a LIMIT, select fewer or shorter columns, or group the rows",
        )
