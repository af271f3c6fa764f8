"""What was measured of a factored synopsis as the rows of a table, and margins of it read again.

    ward  sex   count
    A                          the values of each key's domain, ascending, NULL last,
    B
          F
          M
                1004.0         then the noisy counts of each measured margin: of all rows first,
                501.0          and of the others in the order of their measurement, the last key
                503.0          fastest.

Its law says which margins these are. Nothing of it is of a row: noisy counts are kept as they were
measured, and what is read is computed of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from msgspec import Struct
from numpy.typing import NDArray

from dpsql.plan.bounded_release.bounded_release import BoundedRelease
from dpsql.plan.bounded_release.engine_query import EngineQuery
from dpsql.privacy.allocation.mwem_calibration import MwemParameters
from dpsql.privacy.mechanisms.randomness import Randomness
from dpsql.release.add_noise import RawGroups
from dpsql.release.columns.arrow import arrow_array
from dpsql.release.columns.group_keys import ascending_cells
from dpsql.release.columns.integer_arrays import of_column
from dpsql.release.synopsis.cell_partition import Partition, Shape
from dpsql.release.synopsis.factored.margin_choice import (
    Axes,
    candidate_margins,
    fitting_margins,
    margin,
)
from dpsql.release.synopsis.factored.margin_model import MarginModel
from dpsql.release.synopsis.factored.occupied_cells import OccupiedCells
from dpsql.release.synopsis.margin_error import MEASURED, encode_measured
from dpsql.release.synopsis.mwem import Synopsis, annealed
from dpsql.release.synopsis.weight_fit import Measured, measure


def fit_margins(
    cells: OccupiedCells, parameters: MwemParameters, columns: int, randomness: Randomness
) -> Synopsis[MarginModel]:
    """Estimates of the margins of `cells`, from noisy measurements of some; kept in `columns`.

    Measuring costs the loss of `parameters`.
    """
    among = candidate_margins(cells.shape)
    first = measure(margin(cells.shape, ()), cells, parameters.total, randomness)

    def candidates(measured: Sequence[Measured]) -> Sequence[Partition]:
        return fitting_margins(among, measured, columns)

    def fit(_: MarginModel, measured: Sequence[Measured], steps: int) -> MarginModel:
        del steps
        return MarginModel(cells.shape, measured)

    start = Synopsis(MarginModel(cells.shape, [first]), (first,))
    return annealed(candidates, cells, parameters, start, fit, randomness)


def factored_table(
    raw: RawGroups,
    bounded: BoundedRelease,
    query: EngineQuery,
    parameters: MwemParameters,
    randomness: Randomness,
) -> pa.Table:
    """The table of what is measured of the number of rows, by keys of all domains.

    The first row's MEASURED says of which margins, and with how much noise.
    """
    orders = [ascending_cells(domain) for domain in query.domains]
    shape = tuple(map(len, orders))
    keys = [key.column for key in bounded.contributions.keys]
    (output,) = bounded.outputs
    synopsis = fit_margins(
        OccupiedCells(shape, _positions(raw.totals, orders), of_column(raw.totals.column("s0"))),
        parameters,
        len(keys) + 1,
        randomness,
    )
    counts = np.concatenate([one.counts.ravel() for one in synopsis.measured])
    rows = sum(shape) + counts.size
    named: dict[str, pa.Array] = {}
    start = 0
    for listed, domain, order in zip(
        bounded.contributions.domains, query.domains, orders, strict=True
    ):
        for n, (index, kind) in enumerate(zip(listed.keys, domain.types, strict=True)):
            values = arrow_array([domain.cells[cell][n] for cell in order], kind)
            around = (start, rows - start - len(order))
            before, after = (pa.nulls(count, values.type) for count in around)
            named[f"c{keys[index].id}"] = pa.concat_arrays([before, values, after])
        start += len(order)
    table = {name: named[name] for name in (f"c{key.id}" for key in keys)}
    table[f"c{output.column.id}"] = pa.array([*[None] * start, *counts.tolist()], pa.float64())
    table[MEASURED] = pa.array([encode_measured([synopsis.measured]), *[None] * (rows - 1)])
    return pa.table(table)


class StoredMargins(Struct, frozen=True):
    """What a kept table of a factored synopsis has: the names of each axis' keys, and of `value`.

    `measured` are the margins, with the variances of their noise, as the table has them.
    """

    axes: tuple[tuple[str, ...], ...]
    value: str
    shape: Shape
    measured: tuple[tuple[Partition, float], ...]

    def read(self, table: pa.Table, axes: Axes) -> pa.Table:
        """The margin over `axes` as a table of its keys and of the estimated counts."""
        several = tuple(axis for axis in axes if self.shape[axis] > 1)
        estimates = MarginModel(self.shape, self._counts(table)).margin(several).ravel()
        positions = np.unravel_index(
            np.arange(estimates.size), [self.shape[axis] for axis in axes] or [1]
        )
        read: dict[str, pa.Array] = {}
        for axis, along in zip(axes, positions, strict=False):
            rows = pa.array(along + sum(self.shape[:axis]))
            read |= {name: table.column(name).take(rows) for name in self.axes[axis]}
        return pa.table({**read, self.value: pa.array(estimates)})

    def _counts(self, table: pa.Table) -> list[Measured]:
        """The noisy counts of each measured margin, which follow the values of all keys."""
        counts = table.column(self.value).to_numpy()
        start, measured = sum(self.shape), []
        for partition, variance in self.measured:
            own = counts[start : start + partition.boxes].reshape(partition.box_shape)
            measured.append(Measured(partition, own, variance))
            start += partition.boxes
        return measured


def _positions(
    totals: pa.Table, orders: Sequence[NDArray[np.int64]]
) -> tuple[NDArray[np.int64], ...]:
    """Along each axis the place of the cell of each row of `totals`."""
    numbers = (totals.column(f"g{n}").to_numpy().astype(np.int64) for n in range(len(orders)))
    return tuple(np.argsort(order)[own] for order, own in zip(orders, numbers, strict=True))
