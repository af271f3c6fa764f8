"""Keyed hashes of rows and of their values, by which they have their places in their units.

They are computed by DuckDB, which hashes a value of whatever type as it does in a statement.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Final

import duckdb
import numpy as np
import pyarrow as pa
from msgspec import Struct, field
from sqlglot import exp

from dpsql.engine.duckdb.statement import quoted
from dpsql.engine.sidecar import unit_digests
from dpsql.engine.sidecar.ordering.packed_counts import Numbers
from dpsql.engine.sidecar.row_columns import ROW_NUMBER, UNIT_COLUMN
from dpsql.engine.sidecar.row_parts import Columns, typed

_HASHED: Final = "rows with units"

_HASH: Final = "hash"
"""DuckDB's function by whose value of unit, value and salt a unit's values have their places."""

_BATCH: Final = 122_880
"""Rows that come back at a time."""


class RowHashes(Struct, frozen=True):
    """Hashes rows, and values of columns of these `types`, with a `salt`: what orders them.

    Columns are counted side by side, and the connection has one statement at a time, when it is
    `free`.
    """

    connection: duckdb.DuckDBPyConnection
    types: Mapping[str, str]
    salt: str
    free: Lock = field(default_factory=Lock)

    def of(self, units: pa.Array, column: str, values: pa.Array) -> Numbers:
        """The hash of each row's unit and its value of `column`."""
        # A month is as it was read, and no column of the table.
        named = (UNIT_COLUMN, column)
        types = {name: self.types[name] for name in named if name in self.types}
        (hashed,) = self._computed(
            {UNIT_COLUMN: units, column: values}, [self._of_value(column)], typed(types, _HASHED)
        )
        return hashed

    def ranks(self, units: pa.Array, values: pa.Array, hashes: Numbers) -> Numbers:
        """Numbers that tell the values of a unit apart, in the order of `hashes`."""
        (ranks,) = self._computed(
            {"unit": units, "value": values, "hash": pa.array(hashes)},
            ["dense_rank() OVER (PARTITION BY unit ORDER BY hash, value)"],
            quoted(_HASHED),
        )
        return ranks

    def of_rows(
        self, compared: Sequence[str], counted_by: Sequence[str], columns: Columns
    ) -> tuple[Numbers, dict[str, Numbers]]:
        """The hash of each row, by the SQL expressions `compared`, and those of its values.

        These are by the names of the columns `counted_by`, as `of` has them: rows are read once.
        """
        items = [unit_digests.row_hash(compared, self.salt), *map(self._of_value, counted_by)]
        of_rows, *of_values = self._computed(columns, items, typed(self.types, _HASHED))
        return of_rows, dict(zip(counted_by, of_values, strict=True))

    def row_ranks(self, compared: Sequence[str], columns: Columns) -> Numbers:
        """Numbers that tell those rows of a unit apart that aren't alike, in the hashes' order."""
        order = ", ".join((unit_digests.row_hash(compared, self.salt), *compared))
        ranked = f"dense_rank() OVER (PARTITION BY {quoted(UNIT_COLUMN)} ORDER BY {order})"
        (ranks,) = self._computed(columns, [ranked], typed(self.types, _HASHED))
        return ranks

    def _of_value(self, column: str) -> str:
        secret = exp.Literal.string(self.salt).sql("duckdb")
        return f"{_HASH}({quoted(UNIT_COLUMN)}, {quoted(column)}, {secret})"

    def _computed(self, columns: Columns, items: Sequence[str], rows: str) -> list[Numbers]:
        """Each of `items` of each row of `columns`, which is asked for by the SQL of `rows`."""
        with self.free:
            numbers = pa.array(np.arange(len(columns[next(iter(columns))])))
            self.connection.register(_HASHED, pa.table({**columns, ROW_NUMBER: numbers}))
            # DuckDB may return them in another order than it was given them.
            named = ", ".join(f"{item} AS item{n}" for n, item in enumerate(items))
            select = f"SELECT {quoted(ROW_NUMBER)}, {named} FROM {rows} AS t"  # noqa: S608
            computed = [np.empty(len(numbers), dtype=np.uint64) for _ in items]
            for batch in self.connection.sql(select).to_arrow_reader(_BATCH):
                number, *values = (column.to_numpy() for column in batch.columns)
                for all_rows, some in zip(computed, values, strict=True):
                    all_rows[number] = some
            self.connection.unregister(_HASHED)
            return computed
