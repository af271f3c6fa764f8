"""Ranks of a unit's values by their hashes, of a column with few values: each is hashed once.

Rows have numbers of their values then, in place of their texts.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dpsql.engine.sidecar.ordering.row_hashes import RowHashes
from dpsql.engine.sidecar.ordering.value_counts import Numbers, UnitBlocks
from dpsql.engine.sidecar.row_columns import UNIT_COLUMN
from dpsql.engine.sidecar.row_parts import Columns


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
    nothing = len(values.dictionary)  # stands for NULL
    cells = len(blocks.sizes) * (nothing + 1)
    codes = values.indices  # of 8 bits, if there are few: those of all rows are in caches then
    if codes.null_count:  # one more than the values may be more than their type holds
        codes = pc.fill_null(codes.cast(pa.int64()), nothing)
    numbers = np.repeat(np.arange(len(blocks.sizes)) * (nothing + 1), blocks.sizes)
    numbers += codes.to_numpy()[blocks.rows]
    present = np.flatnonzero(np.bincount(numbers, minlength=cells))
    unit, code = np.divmod(present, nothing + 1)
    of_cells = hashes.of(
        pc.take(columns[UNIT_COLUMN], pa.array(blocks.rows[blocks.first_rows[unit]])),
        column,
        pc.take(values.dictionary, pa.array(code, mask=code == nothing)),
    )
    order = np.lexsort((of_cells, unit))
    hashed = of_cells[order]
    if ((hashed[1:] == hashed[:-1]) & (unit[1:] == unit[:-1])).any():  # units are as they were
        return None
    ranks = np.empty(cells, dtype=np.uint64)
    first_cells = np.searchsorted(unit, np.arange(len(blocks.sizes)))
    ranks[present[order]] = np.arange(len(unit)) - first_cells[unit]
    return ranks[numbers]
