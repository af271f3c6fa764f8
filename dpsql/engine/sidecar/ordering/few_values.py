"""Ranks of a unit's values by their hashes, of a column with few values: each is hashed once.

Rows have numbers of their values then, in place of their texts.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dpsql.engine.sidecar.ordering.packed_counts import Numbers
from dpsql.engine.sidecar.ordering.row_hashes import RowHashes
from dpsql.engine.sidecar.ordering.value_counts import UnitBlocks
from dpsql.engine.sidecar.row_columns import UNIT_COLUMN
from dpsql.engine.sidecar.row_parts import Columns

_ABSENT: Final = np.uint64(2**64 - 1)
"""Stands for the hash of a value that a unit doesn't have, behind those that it has."""


def is_of_few(values: pa.Array, units: int) -> bool:
    """Whether the `values` are so few that those of so many units are hashed once for each unit."""
    return pa.types.is_dictionary(values.type) and units * (len(values.dictionary) + 1) <= len(
        values
    )


def ranks_of_few(
    hashes: RowHashes, blocks: UnitBlocks, column: str, columns: Columns
) -> Numbers | None:
    """Of each row in the order of blocks the rank of its value among its unit's, by their hashes.

    None if two values of one unit have one hash.
    """
    values = columns[column]
    width = len(values.dictionary) + 1
    nothing = width - 1  # stands for NULL
    cells = len(blocks.sizes) * width
    codes = values.indices  # of 8 bits, if there are few: those of all rows are in caches then
    if codes.null_count:  # one more than the values may be more than their type holds
        codes = pc.fill_null(codes.cast(pa.int64()), nothing)
    numbers = np.repeat(np.arange(0, cells, width), blocks.sizes)
    numbers += codes.to_numpy()[blocks.rows]
    present = np.flatnonzero(np.bincount(numbers, minlength=cells))
    unit, code = np.divmod(present, width)
    of_cells = np.full(cells, _ABSENT)
    of_cells[present] = hashes.of(
        pc.take(columns[UNIT_COLUMN], pa.array(blocks.rows[blocks.first_rows[unit]])),
        column,
        pc.take(values.dictionary, pa.array(code, mask=code == nothing)),
    )
    of_units = of_cells.reshape(-1, width)
    order = of_units.argsort(axis=1)
    hashed = np.take_along_axis(of_units, order, axis=1)
    tied = hashed[:, 1:] == hashed[:, :-1]  # units are as they were
    if (of_cells[present] == _ABSENT).any() or (tied & (hashed[:, 1:] != _ABSENT)).any():
        return None
    # The place of each value in the order is where the order has it.
    ranks: Numbers = order.argsort(axis=1).view(np.uint64).ravel()[numbers]
    return ranks
