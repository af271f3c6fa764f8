"""Columns drawn at random, and written as the Parquet files of a fixture's tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from data.database import attached
from numpy.typing import NDArray

from dpsql.schema.load.load import load_schema

FIXTURES = Path(__file__).parent.parent.parent / "fixtures"

Whole = NDArray[np.int64]
Columns = Mapping[str, object]
"""The columns of a table by name: arrays, lists, or one value for all rows."""


@dataclass(frozen=True)
class Draw:
    """Draws columns of `rows` values each."""

    random: np.random.Generator
    rows: int

    def whole(self, low: int, high: int) -> Whole:
        """Integers from `low` to `high`, both included, each as likely."""
        return self.random.integers(low, high, self.rows, endpoint=True)

    def of(self, values: Sequence[str]) -> NDArray[np.str_]:
        """Values of a list, each as likely."""
        return np.array(values)[self.whole(0, len(values) - 1)]

    def flag(self, share: float) -> NDArray[np.bool_]:
        """True in about `share` of the rows."""
        return self.random.random(self.rows) < share

    def sparse(self, values: Whole | NDArray[np.str_], share: float) -> pa.Array:
        """`values` with about `share` of them NULL."""
        return pa.array(values, mask=self.flag(share))


def identifiers(keys: Whole) -> list[str]:
    """Business keys of sixteen letters, one for each number."""
    letters = "ABCDEFGHIJKLMNOP"
    return ["".join(letters[key >> 4 * place & 15] for place in range(16)) for key in keys.tolist()]


def write(folder: Path, fixture: str, table: str, columns: Columns) -> None:
    """Write `table`.parquet with the columns and types of the fixture's schema.

    A decimal is given in units of its last place: 250 in a DECIMAL(7,2) is 2.50.
    """
    declared = load_schema(FIXTURES / fixture / "schema.yaml").tables[table].columns
    several = [c for c in columns.values() if isinstance(c, Sized) and not isinstance(c, str)]
    rows = max(map(len, several))
    arrays = {
        name: pa.array([c] * rows) if isinstance(c, str | int | None) else pa.array(c)
        for name, c in columns.items()
    }
    assert arrays.keys() == declared.keys(), arrays.keys() ^ declared.keys()
    shown = ", ".join(_cast(name, str(declared[name].type)) for name in declared)
    with attached() as connection:
        connection.register("drawn", pa.table(arrays))
        connection.execute(f"COPY (SELECT {shown} FROM drawn) TO '{folder / table}.parquet'")


def _cast(name: str, kind: str) -> str:
    if kind.startswith("DECIMAL"):
        places = int(kind.removesuffix(")").split(",")[1])
        return f'CAST("{name}" * {10**-places:.{places}f} AS {kind}) AS "{name}"'
    return f'CAST("{name}" AS {kind}) AS "{name}"'
