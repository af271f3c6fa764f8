"""Exact totals of all cells → a table of estimates of them, by noisy measurements alone.

Of the rows only integers of bounded moves are read, by exact mechanisms; estimates are floats,
computed from noisy measurements. How a float was rounded is thus no fact about a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dpsql.plan.bounded_release.bounded_release import BoundedRelease
from dpsql.plan.bounded_release.engine_query import EngineQuery
from dpsql.plan.bounded_release.estimator import Estimator, LinearEstimator
from dpsql.privacy.allocation.mwem_calibration import MwemParameters
from dpsql.privacy.mechanisms.randomness import Randomness
from dpsql.release.add_noise import RawGroups, all_totals
from dpsql.release.columns.group_keys import (
    ascending,
    ascending_cells,
    every_key,
    number_of_cells,
    take,
)
from dpsql.release.columns.integer_arrays import summable
from dpsql.release.synopsis.calibrate_synopsis import (
    in_statistics_order,
    is_factored,
    row_index,
    unordered_axes,
)
from dpsql.release.synopsis.cell_partition import partitions
from dpsql.release.synopsis.factored.factored_table import factored_table
from dpsql.release.synopsis.margin_bound import CONFIDENCE, margin_bounds
from dpsql.release.synopsis.margin_error import MEASURED, encode_measured
from dpsql.release.synopsis.mwem import fit_sums, fit_weights


def synopsis_table(
    raw: RawGroups,
    bounded: BoundedRelease,
    query: EngineQuery,
    parameters: MwemParameters,
    randomness: Randomness,
) -> pa.Table:
    """A table of the keys of every cell, in ascending order, and the cells' estimates.

    The first row's MEASURED says what was measured, with how much noise, and how far margins are
    off at most. Of more cells than are listed it is a `factored_table`.
    """
    if is_factored(bounded):
        return factored_table(raw, bounded, query, parameters, randomness)
    shape = tuple(len(domain.cells) for domain in query.domains)
    ranks = [ascending_cells(domain) for domain in query.domains]
    grids = [
        _sorted(summable(totals).reshape(shape), ranks)
        for totals in all_totals(raw.rows, bounded, query)
    ]
    rows, unordered = row_index(bounded), unordered_axes(bounded)
    mechanisms = in_statistics_order(bounded, parameters)
    counted = fit_weights(grids[rows], parameters, randomness, unordered)
    synopses = [
        counted if index == rows else fit_sums(grid, of, counted.estimates, randomness, unordered)
        for index, (grid, of) in enumerate(zip(grids, mechanisms, strict=True))
    ]
    keys = every_key(bounded, query)
    order = ascending(keys, np.arange(number_of_cells(query), dtype=np.int64))
    named = {
        f"c{key.column.id}": take(column, order)
        for key, column in zip(bounded.contributions.keys, keys, strict=True)
    }
    inverses = [np.argsort(rank) for rank in ranks]
    cells = [_sorted(one.estimates, inverses).ravel()[order] for one in synopses]
    for output in bounded.outputs:
        named[f"c{output.column.id}"] = pa.array(_value(output.estimator, cells))
    among = partitions(shape, unordered)
    failure = (1 - CONFIDENCE) / len(synopses)
    bounds = [
        margin_bounds(one, among, of, failure, is_count=index == rows)
        for index, (one, of) in enumerate(zip(synopses, mechanisms, strict=True))
    ]
    measured = encode_measured([one.measured for one in synopses], bounds)
    named[MEASURED] = pa.array([measured, *[None] * (len(order) - 1)])
    return pa.table(named)


def _value(estimator: Estimator, cells: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """What `estimator` makes of each cell's estimated statistics."""
    assert isinstance(estimator, LinearEstimator)
    value = np.full(cells[0].size, float(estimator.constant))
    for index, factor in estimator.summands:
        value += float(estimator.step * factor) * cells[index]
    return value


def _sorted(cells: NDArray[Any], orders: Sequence[NDArray[np.int64]]) -> NDArray[Any]:
    """`cells` with each axis in its order."""
    for axis, order in enumerate(orders):
        cells = np.take(cells, order, axis=axis)
    return cells
