"""A histogram → a table of multiplicative weights over its cells, by noisy measurements alone.

Each round chooses the partition of the cells whose counts by the weights differ most from its
counts of rows, beyond the noise to come, and measures it. Then the weights are fitted to all
measurements. A round that finds no more than its noise would show is followed by one of less noise,
which takes more of the loss (McKenna, Mullins, Sheldon & Miklau 2022, "AIM"). Of the rows only
integers of bounded moves are read, by exact mechanisms; weights are floats, computed from noisy
measurements, and so is what decides of rounds. How a float was rounded is thus no fact about a row.
"""

from __future__ import annotations

import math
from typing import assert_never

import numpy as np
import pyarrow as pa
from msgspec import Struct
from numpy.typing import NDArray

from dpsql.analysis.stability import limited_stability
from dpsql.analysis.unit_contribution import rows_per_group
from dpsql.errors import Refused, TooComplex
from dpsql.plan.bounded_release.bounded_release import (
    BoundedRelease,
    Cell,
    LimitGroups,
    OneRowPerUnit,
)
from dpsql.plan.bounded_release.engine_query import EngineQuery
from dpsql.plan.bounded_release.statistic import RowCount
from dpsql.privacy.accounting.loss import PrivacyLoss
from dpsql.privacy.allocation.mwem_calibration import (
    HistogramSensitivity,
    MwemParameters,
    mwem_calibration,
)
from dpsql.privacy.mechanisms.noise.laplace import DiscreteLaplace
from dpsql.privacy.mechanisms.noise.noise import IndependentNoise
from dpsql.privacy.mechanisms.randomness import Randomness
from dpsql.release.add_noise import RawGroups, all_totals
from dpsql.release.calibration import Measurement
from dpsql.release.columns.arrow import arrow_array
from dpsql.release.columns.group_keys import ascending, every_key, number_of_cells, take
from dpsql.release.synopsis.cell_partition import Partition, count_partitions, partitions
from dpsql.release.synopsis.margin_error import MEASURED, encode_measured
from dpsql.release.synopsis.weight_fit import (
    Counts,
    Measured,
    Weights,
    fitted,
    measure,
    total_rows,
)
from dpsql.schema.sql_type import SqlType

_STEPS, _LAST_STEPS = 40, 300
"""Steps of fitting after each round, and after the last one."""

_ANNEALED = 4
"""A round takes so many times the parts of one that found no more than noise."""

MAX_CELLS = 100_000
"""The largest number of cells of a synopsis: each round looks at all of them."""


def calibrate_mwem(
    bounded: BoundedRelease, steps: int, query_loss: PrivacyLoss, parts: int
) -> Measurement:
    """The mechanisms of a synopsis over the cells of `bounded`, within `query_loss`.

    The loss of its rounds is cut into so many `parts`: there are no more rounds than these.
    `steps` units are removed or added from one neighbour to the other. The rows of each are in at
    most so many groups, at most so many in each and in all, in either database. Raises Refused for
    keys without a domain and for statistics other than count(*), TooComplex for more than MAX_CELLS
    cells.
    """
    if bounded.partition_count_index is not None or not bounded.contributions.keys:
        raise Refused(
            "the keys of a synopsis are listed, and one of these has no domain",
            hint="declare its values or bounds, or group it by CASE, date_trunc or extract",
            note="synopsis",
        )
    cells = math.prod(len(domain.cells) for domain in bounded.contributions.domains)
    if cells > MAX_CELLS:
        raise TooComplex(
            f"the keys have {cells:,} combinations, and a synopsis has at most {MAX_CELLS:,}",
            hint="use fewer or coarser keys",
            note="synopsis",
        )
    if [statistic.term for statistic in bounded.contributions.statistics] != [RowCount()]:
        raise Refused("a synopsis counts rows that nobody knows the number of", note="synopsis")
    changed = limited_stability(bounded.limited, steps)
    units, in_all = changed.units, _rows_in_all(bounded)
    moves = HistogramSensitivity(
        changed.groups_per_unit,
        units * rows_per_group(bounded.limited),
        None if in_all is None else units * in_all,
    )
    parameters, loss = mwem_calibration(moves, parts, query_loss)
    return Measurement((parameters.noise(1, 1),), None, loss, table_mechanism=parameters)


def _rows_in_all(bounded: BoundedRelease) -> int | None:
    """How many rows of a unit count in all cells together; None if no limit says."""
    match bounded.limited:
        case LimitGroups(rows=rows):
            return rows
        case OneRowPerUnit():
            return 1
        case missing:
            assert_never(missing)


def synopsis_notes(bounded: BoundedRelease, measurement: Measurement) -> tuple[str, ...]:
    """The lines of EXPLAIN about the rounds."""
    parameters = measurement.table_mechanism
    assert isinstance(parameters, MwemParameters)
    shape = tuple(len(domain.cells) for domain in bounded.contributions.domains)
    change = parameters.sensitivity.l1
    return (
        f"a unit moves the histogram by {change} rows at most, in all its cells together",
        f"the number of rows is measured with {parameters.total.name} noise",
        f"{parameters.parts} rounds at most, each of a choice and a measurement of what it chose",
        "one that finds no more than noise is followed by one of less noise, at more of the loss",
        f"among {count_partitions(shape)} partitions of {math.prod(shape):,} cells",
    )


def synopsis_table(
    raw: RawGroups,
    bounded: BoundedRelease,
    query: EngineQuery,
    parameters: MwemParameters,
    randomness: Randomness,
) -> pa.Table:
    """A table of the keys of every cell, in ascending order, and the cells' weights.

    The first row's MEASURED says what was measured, and with how much noise.
    """
    (totals,) = all_totals(raw.totals, bounded, query)
    shape = tuple(len(domain.cells) for domain in query.domains)
    ranks = [_ranks(domain.types, domain.cells) for domain in query.domains]
    grid = np.asarray(totals, dtype=np.int64).reshape(shape)
    for axis, order in enumerate(ranks):
        grid = np.take(grid, order, axis=axis)
    synopsis = fit_weights(grid, parameters, randomness)
    weights = synopsis.weights
    for axis, order in enumerate(ranks):
        weights = np.take(weights, np.argsort(order), axis=axis)
    keys = every_key(bounded, query)
    order = ascending(keys, np.arange(number_of_cells(query), dtype=np.int64))
    named = {
        f"c{key.column.id}": take(column, order)
        for key, column in zip(bounded.contributions.keys, keys, strict=True)
    }
    named[f"c{bounded.outputs[0].column.id}"] = pa.array(weights.ravel()[order])
    named[MEASURED] = pa.array([encode_measured(synopsis.measured), *[None] * (len(order) - 1)])
    return pa.table(named)


class Synopsis(Struct, frozen=True):
    """The weights of a grid of cells, and all that they are fitted to: the number of rows first."""

    weights: Weights
    measured: tuple[Measured, ...]


def fit_weights(cells: Counts, parameters: MwemParameters, randomness: Randomness) -> Synopsis:
    """The weights of a grid of exact counts, `cells`, from noisy measurements of it.

    Measuring costs the loss of `parameters`. The weights have the shape of `cells`.
    """
    whole = Partition(cells.shape, cells.shape)
    measured = [measure(whole, cells, parameters.total, randomness)]
    weights = np.full(cells.shape, total_rows(measured) / cells.size)
    among = partitions(cells.shape)
    left, taken = parameters.parts if among else 0, 1
    while left:
        # What is left after the last round would be too little for another.
        taken = taken if left >= 2 * taken else left
        left -= taken
        chosen = _choose(among, cells, weights, parameters, taken, randomness)
        noise = parameters.noise(taken, chosen.merged)
        measured.append(measure(chosen, cells, noise, randomness))
        before = chosen.sums(weights)
        weights = fitted(weights, measured, _STEPS if left else _LAST_STEPS)
        moved = float(np.abs(chosen.sums(weights) - before).sum())
        if moved <= chosen.boxes * _deviation(noise):
            taken *= _ANNEALED
    return Synopsis(weights, tuple(measured))


def _choose(
    candidates: tuple[Partition, ...],
    cells: Counts,
    weights: Weights,
    parameters: MwemParameters,
    taken: int,
    randomness: Randomness,
) -> Partition:
    """Choose privately a partition whose counts are far from the weights', beyond their noise.

    The round takes so many parts of the loss. A score is Σ|weights' - rows'| less what noise adds,
    in whole rows: it moves by `l1` at most, since the weights and the noise's size are the same
    whatever the rows are.
    """
    losses = []
    for one in candidates:
        modeled = np.rint(one.sums(weights)).astype(np.int64)
        farthest = int(np.abs(modeled - one.sums(cells)).sum())
        beyond = one.boxes * _deviation(parameters.noise(taken, one.merged))
        losses.append(math.floor(min(beyond, 2.0**60)) - farthest)
    (chosen,) = parameters.choice(taken).choose(losses, randomness)
    return candidates[int(chosen)]


def _deviation(noise: IndependentNoise) -> float:
    """The mean absolute value of the noise."""
    spread = math.sqrt(float(noise.variance))
    is_laplace = isinstance(noise, DiscreteLaplace)
    return spread * (0.5**0.5 if is_laplace else math.sqrt(2 / math.pi))


def _ranks(types: tuple[SqlType, ...], cells: tuple[Cell, ...]) -> NDArray[np.int64]:
    """The indices of a domain's cells in ascending order, NULL last."""
    columns = tuple(arrow_array([cell[n] for cell in cells], kind) for n, kind in enumerate(types))
    return ascending(columns, np.arange(len(cells), dtype=np.int64))
