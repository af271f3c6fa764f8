"""Raw totals → noisy integers: every enumerated cell, or the keys that pass the threshold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dpsql.plan.bounded_release.bounded_release import BoundedRelease, Cell
from dpsql.plan.bounded_release.cell_selection import Selection
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
    found_keys,
    listed_keys,
    number_of_cells,
    taken,
)
from dpsql.release.columns.integer_arrays import of_column
from dpsql.release.selection_mechanism import Chooser

_MOST_COUNTS = 2**22
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


def privatize(
    raw: RawGroups,
    bounded: BoundedRelease,
    query: EngineQuery,
    measurement: Measurement,
    randomness: Randomness,
) -> NoisyGroups:
    """Noise on every statistic of every group; the order of `raw` shows nowhere."""
    if bounded.selection is None or not bounded.terms.statistics:
        keys, count = every_key(bounded, query), number_of_cells(query)
        totals = all_totals(raw.totals, bounded, query)
    else:
        # Which of the keys that rows have are shown is for the threshold to say.
        keys, count = found_keys(raw.totals, bounded, query), raw.totals.num_rows
        totals = [of_column(raw.totals.column(name)) for name in _names(bounded)]
    noisy = [
        mechanism.release_vector(values, randomness)
        for mechanism, values in zip(measurement.mechanisms, totals, strict=True)
    ]
    shown = np.ones(count, dtype=np.bool_)
    if bounded.selection is not None and measurement.threshold is not None:
        shown &= (noisy[bounded.selection] >= measurement.threshold).astype(np.bool_)
    if bounded.least is not None:
        place, units = bounded.least.place, bounded.least.units
        if units is None:
            units = half_width(measurement.mechanisms[place]) + 1
        shown &= (noisy[place] >= units).astype(np.bool_)
    order = ascending(keys, shown.nonzero()[0])
    ordered = tuple(taken(key, order) for key in keys)
    choices: list[Integers] = []
    if bounded.terms.selections:
        cells = _as_cells(ordered, order.size)
        for selection, table, mechanism in zip(
            bounded.terms.selections, raw.histograms, measurement.choosers, strict=True
        ):
            rows = rows_in_cells(table, bounded, query)
            choices += choose(rows, cells, selection, mechanism, randomness)
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
    keys = _as_cells(found_keys(table, bounded, query), table.num_rows)
    for key, place, count in zip(keys, places, counts, strict=True):
        found.setdefault(key, {})[place] = int(count)
    return found


def choose(
    found: Mapping[Cell, Mapping[int, int]],
    keys: Sequence[Cell],
    selection: Selection,
    mechanism: Chooser,
    randomness: Randomness,
) -> list[Integers]:
    """The chosen cells of each group, choice by choice; groups go through in batches."""
    batch = max(1, _MOST_COUNTS // selection.cells.count)
    parts = [np.empty((0, selection.choices), dtype=np.int64)]
    for start in range(0, len(keys), batch):
        some = keys[start : start + batch]
        counts = np.zeros((len(some), selection.cells.count), dtype=np.int64)
        for row, key in enumerate(some):
            for place, count in found.get(key, {}).items():
                counts[row, place] = count
        parts.append(mechanism.release(counts, randomness))
    return list(np.concatenate(parts).T)


def all_totals(raw: pa.Table, bounded: BoundedRelease, query: EngineQuery) -> list[Integers]:
    """Totals of every cell, 0 where no row is: empty groups look like any other."""
    if not bounded.terms.statistics:
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
    return [f"s{number}" for number in range(len(bounded.terms.statistics))]


def _as_cells(keys: Keys, count: int) -> list[Cell]:
    columns = [map(canonical, key.to_pylist()) for key in keys]
    return list(zip(*columns, strict=True)) if columns else [()] * count
