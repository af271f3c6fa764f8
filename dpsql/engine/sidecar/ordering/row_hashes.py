"""Keyed hashes of rows and of their values, by which they have their places in their units.

They are computed by DuckDB, which hashes a value of whatever type as it does in a statement.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import duckdb
import numpy as np
import pyarrow as pa
from msgspec import Struct
from sqlglot import exp

from dpsql.engine.duckdb.statement import quoted
from dpsql.engine.sidecar import unit_digests
from dpsql.engine.sidecar.ordering.value_counts import Numbers
from dpsql.engine.sidecar.row_columns import ROW_NUMBER, UNIT_COLUMN
from dpsql.engine.sidecar.row_parts import Columns, typed

_HASHED: Final = "rows with units"

_HASH: Final = "hash"
"""DuckDB's function by whose value of unit, value and salt a unit's values have their places."""

_BATCH: Final = 122_880
"""Rows that come back at a time."""


class RowHashes(Struct, frozen=True):
    """Hashes rows, and values of columns of these `types`, with a `salt`: what orders them."""

    connection: duckdb.DuckDBPyConnection
    types: Mapping[str, str]
    salt: str

    def of(self, units: pa.Array, column: str, values: pa.Array) -> Numbers:
        """The hash of each row's unit and its value of `column`."""
        # A month is as it was read, and no column of the table.
        named = (UNIT_COLUMN, column)
        types = {name: self.types[name] for name in named if name in self.types}
        secret = exp.Literal.string(self.salt).sql("duckdb")
        return self._computed(
            {UNIT_COLUMN: units, column: values},
            f"{_HASH}({quoted(UNIT_COLUMN)}, {quoted(column)}, {secret})",
            typed(types, _HASHED),
        )

    def ranks(self, units: pa.Array, values: pa.Array, hashes: Numbers) -> Numbers:
        """Numbers that tell the values of a unit apart, in the order of `hashes`."""
        return self._computed(
            {"unit": units, "value": values, "hash": pa.array(hashes)},
            "dense_rank() OVER (PARTITION BY unit ORDER BY hash, value)",
            quoted(_HASHED),
        )

    def of_rows(self, compared: Sequence[str], columns: Columns) -> Numbers:
        """The hash of each row, by the SQL expressions `compared`."""
        return self._computed(
            columns, unit_digests.row_hash(compared, self.salt), typed(self.types, _HASHED)
        )

    def row_ranks(self, compared: Sequence[str], columns: Columns) -> Numbers:
        """Numbers that tell those rows of a unit apart that aren't alike, in the hashes' order."""
        order = ", ".join((unit_digests.row_hash(compared, self.salt), *compared))
        ranked = f"dense_rank() OVER (PARTITION BY {quoted(UNIT_COLUMN)} ORDER BY {order})"
        return self._computed(columns, ranked, typed(self.types, _HASHED))

    def _computed(self, columns: Columns, item: str, rows: str) -> Numbers:
        """`item` of each row of `columns`, which is asked for by the SQL of `rows`."""
        numbers = pa.array(np.arange(len(columns[next(iter(columns))])))
        self.connection.register(_HASHED, pa.table({**columns, ROW_NUMBER: numbers}))
        # DuckDB may return them in another order than it was given them.
        select = f"SELECT {quoted(ROW_NUMBER)}, {item} AS item FROM {rows} AS t"  # noqa: S608
        computed = np.empty(len(numbers), dtype=np.uint64)
        for batch in self.connection.sql(select).to_arrow_reader(_BATCH):
            number, value = batch.columns
            computed[number.to_numpy()] = value.to_numpy()
        self.connection.unregister(_HASHED)
        return computed
