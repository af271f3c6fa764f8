"""Raw totals → noisy integers: every enumerated cell, or the keys that pass the threshold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dpsql.plan.bounded_release.bounded_release import BoundedRelease, Cell
from dpsql.plan.bounded_release.cell_selection import CellChoice
from dpsql.plan.bounded_release.engine_query import EngineQuery
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
    keys_of_rows,
    listed_keys,
    number_of_cells,
    take,
)
from dpsql.release.columns.integer_arrays import of_column
from dpsql.release.selection_mechanism import SelectionMechanism

_MAX_COUNTS = 2**22
"""Counts of cells that are held at once."""


@dataclass(frozen=True, slots=True)
class NoisyGroups:
    """Keys in ascending order, NULL last; the noisy integers of each statistic; cells chosen.

    All are columns with a value for each of `count` groups.
    """

    keys: Keys
    count: int
    statistics: tuple[Integers, ...]
    choices: tuple[Integers, ...] = ()

    def rows(self) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
        """The integers and the choices of each group."""
        none = [()] * self.count
        integers = [column.tolist() for column in self.statistics]
        chosen = [column.tolist() for column in self.choices]
        yield from zip(
            zip(*integers, strict=True) if integers else none,
            zip(*chosen, strict=True) if chosen else none,
            strict=True,
        )


@dataclass(frozen=True, slots=True)
class RawGroups:
    """What the engine found: integers of each group, and the rows in each cell of selections."""

    totals: pa.Table
    histograms: tuple[pa.Table, ...] = ()


def add_noise(
    raw: RawGroups,
    bounded: BoundedRelease,
    query: EngineQuery,
    measurement: Measurement,
    randomness: Randomness,
) -> NoisyGroups:
    """Noise on every statistic of every group; the order of `raw` shows nowhere."""
    if bounded.partition_count_index is None or not bounded.contributions.statistics:
        keys, count = every_key(bounded, query), number_of_cells(query)
        totals = all_totals(raw.totals, bounded, query)
    else:
        # Which of the keys that rows have are shown is for the threshold to say.
        keys, count = keys_of_rows(raw.totals, bounded, query), raw.totals.num_rows
        totals = [of_column(raw.totals.column(name)) for name in _names(bounded)]
    noisy = [
        mechanism.release_vector(values, randomness)
        for mechanism, values in zip(measurement.mechanisms, totals, strict=True)
    ]
    shown = np.ones(count, dtype=np.bool_)
    if bounded.partition_count_index is not None and measurement.threshold is not None:
        shown &= (noisy[bounded.partition_count_index] >= measurement.threshold).astype(np.bool_)
    if bounded.min_units is not None:
        place, units = bounded.min_units.count_index, bounded.min_units.threshold
        if units is None:
            units = half_width(measurement.mechanisms[place]) + 1
        shown &= (noisy[place] >= units).astype(np.bool_)
    order = ascending(keys, shown.nonzero()[0])
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


def listed_cells(bounded: BoundedRelease, query: EngineQuery) -> tuple[Cell, ...]:
    """The rows of a release that shows every cell of its enumerated keys, in their order."""
    return tuple(_as_cells(listed_keys(bounded, query), number_of_cells(query)))


def rows_in_cells(
    table: pa.Table, bounded: BoundedRelease, query: EngineQuery
) -> dict[Cell, dict[int, int]]:
    """The rows in each cell of a selection, by the group's key."""
    found: dict[Cell, dict[int, int]] = {}
    places, counts = (table.column(name).to_pylist() for name in ("p", "n"))
    keys = _as_cells(keys_of_rows(table, bounded, query), table.num_rows)
    for key, place, count in zip(keys, places, counts, strict=True):
        found.setdefault(key, {})[place] = int(count)
    return found


def choose_cells(
    histogram: Mapping[Cell, Mapping[int, int]],
    keys: Sequence[Cell],
    choice: CellChoice,
    mechanism: SelectionMechanism,
    randomness: Randomness,
) -> list[Integers]:
    """The chosen cells of each group, choice by choice; groups go through in batches."""
    batch = max(1, _MAX_COUNTS // choice.cells.count)
    parts = [np.empty((0, choice.choices), dtype=np.int64)]
    for start in range(0, len(keys), batch):
        some = keys[start : start + batch]
        counts = np.zeros((len(some), choice.cells.count), dtype=np.int64)
        for row, key in enumerate(some):
            for place, count in histogram.get(key, {}).items():
                counts[row, place] = count
        parts.append(mechanism.release(counts, randomness))
    return list(np.concatenate(parts).T)


def all_totals(raw: pa.Table, bounded: BoundedRelease, query: EngineQuery) -> list[Integers]:
    """Totals of every cell, 0 where no row is: empty groups look like any other."""
    if not bounded.contributions.statistics:
        return []
    places = cells_of(raw, query)
    totals = []
    for name in _names(bounded):
        found = of_column(raw.column(name))
        values = np.zeros(number_of_cells(query), dtype=found.dtype)
        values[places] = found
        totals.append(values)
    return totals


def _names(bounded: BoundedRelease) -> list[str]:
    return [f"s{number}" for number in range(len(bounded.contributions.statistics))]


def _as_cells(keys: Keys, count: int) -> list[Cell]:
    columns = [map(canonical, key.to_pylist()) for key in keys]
    return list(zip(*columns, strict=True)) if columns else [()] * count
