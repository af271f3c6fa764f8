"""Raw totals → noisy integers: every enumerated cell, or the keys that pass the threshold."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import pyarrow as pa

from dpsql.plan.bounded import BoundedRelease, Cell
from dpsql.plan.query import EngineQuery
from dpsql.plan.selection import Selection
from dpsql.privacy.domain import Value
from dpsql.privacy.mechanisms.randomness import Randomness
from dpsql.release.arrow import canonical
from dpsql.release.calibrate import Measurement
from dpsql.release.choice import Chooser

NO_STATISTICS: list[list[int]] = []

_MOST_COUNTS = 2**22
"""Counts of cells that are held at once."""


@dataclass(frozen=True, slots=True)
class NoisyGroups:
    """Keys in ascending order, NULL last; the noisy integers of each statistic; cells chosen."""

    keys: tuple[Cell, ...]
    statistics: tuple[tuple[int, ...], ...]
    choices: tuple[tuple[int, ...], ...] = ()

    def rows(self) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
        """The integers and the choices of each group."""
        for place in range(len(self.keys)):
            yield tuple(s[place] for s in self.statistics), tuple(c[place] for c in self.choices)


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
    if not bounded.terms.statistics:
        cells, totals = _cells(bounded, query), NO_STATISTICS
    elif bounded.selection is None:
        cells, totals = _all_cells(raw.totals, bounded, query)
    else:
        cells, totals = _found_keys(raw.totals, bounded, query)
    noisy = [
        mechanism.release(values, randomness)
        for mechanism, values in zip(measurement.mechanisms, totals, strict=True)
    ]
    kept = list(range(len(cells)))
    if bounded.selection is not None and measurement.threshold is not None:
        counts = noisy[bounded.selection]
        kept = [place for place in kept if counts[place] >= measurement.threshold]
    if bounded.least is not None:
        units = noisy[bounded.least.place]
        kept = [place for place in kept if units[place] >= bounded.least.units]
    order = sorted(kept, key=lambda place: _sort_key(cells[place]))
    keys = tuple(cells[place] for place in order)
    choices = [
        chosen
        for selection, table, mechanism in zip(
            bounded.terms.selections, raw.histograms, measurement.choosers, strict=True
        )
        for chosen in choose(
            rows_in_cells(table, bounded, query), keys, selection, mechanism, randomness
        )
    ]
    return NoisyGroups(
        keys,
        tuple(tuple(values[place] for place in order) for values in noisy),
        tuple(choices),
    )


def listed_cells(bounded: BoundedRelease, query: EngineQuery) -> tuple[Cell, ...]:
    """The rows of a release that shows every cell of its enumerated keys, in their order."""
    return tuple(sorted(_cells(bounded, query), key=_sort_key))


def rows_in_cells(
    table: pa.Table, bounded: BoundedRelease, query: EngineQuery
) -> dict[Cell, dict[int, int]]:
    """The rows in each cell of a selection, by the group's key."""
    found: dict[Cell, dict[int, int]] = {}
    places, counts = (table.column(name).to_pylist() for name in ("p", "n"))
    for key, place, count in zip(_keys(table, bounded, query), places, counts, strict=True):
        found.setdefault(key, {})[place] = count
    return found


def choose(
    found: Mapping[Cell, Mapping[int, int]],
    keys: Sequence[Cell],
    selection: Selection,
    mechanism: Chooser,
    randomness: Randomness,
) -> list[tuple[int, ...]]:
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
    return [tuple(map(int, column)) for column in np.concatenate(parts).T]


def _all_cells(
    raw: pa.Table, bounded: BoundedRelease, query: EngineQuery
) -> tuple[list[Cell], list[list[int]]]:
    """Every cell of the enumerated domain, 0 where no row is: empty groups look like any other."""
    sizes = [len(table.cells) for table in query.domains]
    totals = [[0] * math.prod(sizes) for _ in bounded.terms.statistics]
    groups = [raw.column(f"g{n}").to_pylist() for n in range(len(sizes))]
    places = [_flatten(indices, sizes) for indices in zip(*groups, strict=True)]
    if not sizes:
        places = [0] * raw.num_rows
    for number, values in enumerate(totals):
        for place, total in zip(places, _integers(raw, number), strict=True):
            values[place] = total
    return _cells(bounded, query), totals


def _cells(bounded: BoundedRelease, query: EngineQuery) -> list[Cell]:
    return [_cell(parts, bounded) for parts in product(*(table.cells for table in query.domains))]


def _found_keys(
    raw: pa.Table, bounded: BoundedRelease, query: EngineQuery
) -> tuple[list[Cell], list[list[int]]]:
    """The keys that rows have; which of them are shown is for the threshold to say."""
    integers = [_integers(raw, number) for number in range(len(bounded.terms.statistics))]
    return _keys(raw, bounded, query), integers


def _keys(raw: pa.Table, bounded: BoundedRelease, query: EngineQuery) -> list[Cell]:
    """The key of each row of `raw`."""
    count = len(query.domains)
    columns = [raw.column(f"g{n}").to_pylist() for n in range(_group_count(bounded))]
    parts = [
        [query.domains[n].cells[index] for index in column]
        if n < count
        else [(canonical(value),) for value in column]
        for n, column in enumerate(columns)
    ]
    if not parts:
        return [()] * raw.num_rows
    return [_cell(found, bounded) for found in zip(*parts, strict=True)]


def _group_count(bounded: BoundedRelease) -> int:
    listed = {place for found in bounded.terms.domains for place in found.keys}
    return len(bounded.terms.domains) + len(bounded.terms.keys) - len(listed)


def _cell(parts: tuple[Cell, ...], bounded: BoundedRelease) -> Cell:
    """Values in the order of the keys, from those of the domains and of the unlisted keys."""
    domains = bounded.terms.domains
    listed = {place for found in domains for place in found.keys}
    unlisted = [place for place in range(len(bounded.terms.keys)) if place not in listed]
    places = [*(place for found in domains for place in found.keys), *unlisted]
    values: list[Value | None] = [value for part in parts for value in part]
    by_place = dict(zip(places, values, strict=True))
    return tuple(by_place[place] for place in range(len(places)))


def _flatten(indices: tuple[int, ...], sizes: list[int]) -> int:
    place = 0
    for index, size in zip(indices, sizes, strict=True):
        place = place * size + index
    return place


def _integers(raw: pa.Table, number: int) -> list[int]:
    return [0 if value is None else int(value) for value in raw.column(f"s{number}").to_pylist()]


def _sort_key(cell: Cell) -> tuple[tuple[bool, object], ...]:
    return tuple((value is None, 0 if value is None else value) for value in cell)
