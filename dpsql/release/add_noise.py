"""Raw totals → noisy integers, of every enumerated cell or of the keys that pass the threshold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from msgspec import Struct
from numpy.typing import NDArray

from dpsql.engine.raw import IntegerColumns, Rows, as_table
from dpsql.plan.bounded_release.bounded_release import BoundedRelease, Cell
from dpsql.plan.bounded_release.cell_selection import CellChoice
from dpsql.plan.bounded_release.engine_query import EngineQuery
from dpsql.privacy.mechanisms.mechanism import check_integers
from dpsql.privacy.mechanisms.noise.uniform_bits_in_cell import Integers
from dpsql.privacy.mechanisms.randomness import Randomness
from dpsql.release.calibration import Measurement
from dpsql.release.columns.arrow import canonical
from dpsql.release.columns.confidence_interval import half_width
from dpsql.release.columns.group_keys import (
    Keys,
    ascending,
    cells_of,
    every_key,
    few_cells_of,
    keys_of_rows,
    listed_keys,
    number_of_cells,
    take,
)
from dpsql.release.columns.integer_arrays import of_column, of_list
from dpsql.release.joint_noise import noisy_integers
from dpsql.release.selection_mechanism import SelectionMechanism

_MAX_COUNTS = 2**22
"""The largest number of counts of cells that are in memory at once."""


class NoisyGroups(Struct, frozen=True):
    """The noisy statistics of `count` groups, and the cells that were chosen in each.

    All fields are columns with a value for each group: the keys, in ascending order with NULL last,
    the integers of each statistic, and the cell of each choice.
    """

    keys: Keys
    count: int
    statistics: tuple[Integers, ...]
    choices: tuple[Integers, ...] = ()

    def rows(self) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
        """The statistics and the choices of each group, as Python integers."""
        none = [()] * self.count
        integers = [column.tolist() for column in self.statistics]
        chosen = [column.tolist() for column in self.choices]
        yield from zip(
            zip(*integers, strict=True) if integers else none,
            zip(*chosen, strict=True) if chosen else none,
            strict=True,
        )


class CellCounts(NamedTuple):
    """How many rows a group has in each of some cells, which are told by their indices."""

    cells: Integers
    counts: Integers


class RawGroups(Struct, frozen=True):
    """Exact results of the engine: totals of each group, and each selection's rows per cell."""

    rows: Rows
    histograms: tuple[pa.Table, ...] = ()

    @property
    def totals(self) -> pa.Table:
        """The totals of each group as a table."""
        return as_table(self.rows)


def add_noise(
    raw: RawGroups,
    bounded: BoundedRelease,
    query: EngineQuery,
    measurement: Measurement,
    randomness: Randomness,
) -> NoisyGroups:
    """Add the noise of `measurement` to every statistic of every group, and choose cells.

    Groups below a threshold are left out. The groups are in the order of their keys, so that the
    order of `raw` shows nowhere.
    """
    is_listed = bounded.partition_count_index is None or not bounded.contributions.statistics
    if is_listed:
        listed, count = listed_keys(bounded, query), number_of_cells(query)
        totals = all_totals(raw.rows, bounded, query)
    else:
        # Which of the keys that rows have are shown is for the threshold to say.
        table = raw.totals
        keys, count = keys_of_rows(table, bounded, query), table.num_rows
        totals = [of_column(table.column(name)) for name in _names(bounded)]
    noisy = noisy_integers(measurement.mechanisms, totals, randomness)
    shown = _shown(noisy, count, bounded, measurement)
    if is_listed:
        order = listed.order if shown is None else listed.order[shown[listed.order]]
        is_whole, keys = order.size == count, listed.by_number
        ordered = listed.ordered if is_whole else tuple(take(key, order) for key in keys)
    else:
        every = np.arange(count, dtype=np.int64)
        order = ascending(keys, every if shown is None else shown.nonzero()[0])
        ordered = tuple(take(key, order) for key in keys)
    choices: list[Integers] = []
    if bounded.contributions.cell_choices:
        cells = _as_cells(ordered, order.size)
        for selection, table, mechanism in zip(
            bounded.contributions.cell_choices, raw.histograms, measurement.choosers, strict=True
        ):
            rows = rows_in_cells(table, bounded, query)
            choices += choose_cells(rows, cells, selection, mechanism, randomness)
    return NoisyGroups(ordered, order.size, tuple(n[order] for n in noisy), tuple(choices))


def _shown(
    noisy: Sequence[Integers], count: int, bounded: BoundedRelease, measurement: Measurement
) -> NDArray[np.bool_] | None:
    """Which groups pass every threshold that there is; None if there is none."""
    thresholds: list[tuple[int, int]] = []
    if bounded.partition_count_index is not None and measurement.threshold is not None:
        thresholds.append((bounded.partition_count_index, measurement.threshold))
    if bounded.min_units is not None:
        index, units = bounded.min_units.count_index, bounded.min_units.threshold
        if units is None:
            units = half_width(measurement.mechanisms[index]) + 1
        thresholds.append((index, units))
    if not thresholds:
        return None
    shown = np.ones(count, dtype=np.bool_)
    for index, threshold in thresholds:
        shown &= (noisy[index] >= threshold).astype(np.bool_)
    return shown


def listed_cells(bounded: BoundedRelease, query: EngineQuery) -> tuple[Cell, ...]:
    """The keys of a release that shows every cell of its enumerated keys, in released order."""
    return tuple(_as_cells(listed_keys(bounded, query).ordered, number_of_cells(query)))


def rows_in_cells(
    table: pa.Table, bounded: BoundedRelease, query: EngineQuery
) -> dict[Cell, CellCounts]:
    """The number of rows in each cell of a selection that has some, by the group's key."""
    if not table.num_rows:
        return {}
    if bounded.contributions.unlisted_keys:
        keys, numbers = keys_of_rows(table, bounded, query), dict[Cell, int]()
        each = _as_cells(keys, table.num_rows)
        groups = np.array([numbers.setdefault(key, len(numbers)) for key in each], dtype=np.int64)
    else:
        keys, groups = every_key(bounded, query), cells_of(table, query)
    order = groups.argsort(kind="stable")
    starts = np.diff(groups[order], prepend=-1).nonzero()[0]
    firsts = order[starts]
    own = firsts if bounded.contributions.unlisted_keys else groups[firsts]
    cells, counts = (
        np.split(of_column(table.column(name))[order], starts[1:]) for name in ("p", "n")
    )
    of_groups = _as_cells(tuple(take(key, own) for key in keys), own.size)
    return dict(zip(of_groups, map(CellCounts, cells, counts), strict=True))


def choose_cells(
    histogram: Mapping[Cell, CellCounts],
    keys: Sequence[Cell],
    choice: CellChoice,
    mechanism: SelectionMechanism,
    randomness: Randomness,
) -> list[Integers]:
    """The chosen cells of each group: for each choice, an array with a cell of each key.

    `histogram` has the exact rows of each group in each cell. Groups are worked through in batches.
    """
    batch = max(1, _MAX_COUNTS // choice.cells.count)
    parts = [np.empty((0, choice.choices), dtype=np.int64)]
    for start in range(0, len(keys), batch):
        some = keys[start : start + batch]
        counts = np.zeros((len(some), choice.cells.count), dtype=np.int64)
        for row, key in enumerate(some):
            own = histogram.get(key)
            if own is not None:
                counts[row, own.cells] = own.counts
        parts.append(mechanism.release(counts, randomness))
    return list(np.concatenate(parts).T)


def all_totals(raw: Rows, bounded: BoundedRelease, query: EngineQuery) -> list[Integers]:
    """The totals of every cell, 0 where no row is, so that empty groups look like any other."""
    if not bounded.contributions.statistics:
        return []
    if not isinstance(raw, pa.Table):
        return _few_totals(raw, _names(bounded), query)
    cells = cells_of(raw, query)
    totals = []
    for name in _names(bounded):
        nonempty = of_column(raw.column(name))
        values = np.zeros(number_of_cells(query), dtype=nonempty.dtype)
        values[cells] = nonempty
        totals.append(values)
    return totals


def _few_totals(raw: IntegerColumns, names: Sequence[str], query: EngineQuery) -> list[Integers]:
    """What `all_totals` are, of few rows: the columns `names`, cell by cell."""
    totals, cells = [], few_cells_of(raw, query)
    for name in names:
        values = [0] * number_of_cells(query)
        for cell, value in zip(cells, raw[name], strict=True):
            values[cell] = 0 if value is None else value
        check_integers(values)
        totals.append(of_list(values))
    return totals


def _names(bounded: BoundedRelease) -> list[str]:
    """The names of the statistics' columns in the engine's result."""
    return [f"s{number}" for number in range(len(bounded.contributions.statistics))]


def _as_cells(keys: Keys, count: int) -> list[Cell]:
    columns = [map(canonical, key.to_pylist()) for key in keys]
    return list(zip(*columns, strict=True)) if columns else [()] * count
