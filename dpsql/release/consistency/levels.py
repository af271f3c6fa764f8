"""How the groups of several levels lie in each other: what lets their noisy sums add up."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa

from dpsql.release.consistency.hierarchy import Hierarchy, Indices
from dpsql.release.consistency.margins import Factors, Margins

Level = Mapping[str, pa.Array]
"""The keys of a level's rows, by what they mean."""

Nesting = Hierarchy | Margins
_Codes = tuple[dict[str, Indices], ...]
_UNRELATED = 2**62


def nesting(levels: Sequence[Level], counts: Sequence[int]) -> Nesting | None:
    """How `levels` of so many rows lie in each other, in the order of `levels`.

    Each by more keys than the one before, and then a hierarchy, whichever cells there are; or by
    any keys, and then all combinations of them. None where they are neither.
    """
    codes = _codes(levels)
    chain = all(a.keys() < b.keys() for a, b in pairwise(levels))
    return _hierarchy(codes, counts) if chain else _margins(codes, counts)


def _codes(levels: Sequence[Level]) -> _Codes:
    """Each key's values as numbers, the same in all levels; NULL is a value."""
    found: tuple[dict[str, Indices], ...] = tuple({} for _ in levels)
    for key in dict.fromkeys(key for level in levels for key in level):
        held = [place for place, level in enumerate(levels) if key in level]
        joined = pa.concat_arrays([levels[place][key] for place in held])
        encoded = joined.dictionary_encode(null_encoding="encode")
        numbers = np.asarray(encoded.indices.to_numpy(), dtype=np.int64)
        ends = np.cumsum([len(levels[place][key]) for place in held])[:-1]
        for place, part in zip(held, np.split(numbers, ends), strict=True):
            found[place][key] = part
    return found


def _hierarchy(codes: _Codes, counts: Sequence[int]) -> Hierarchy | None:
    parents: list[Indices] = []
    for place, (above, below) in enumerate(pairwise(codes)):
        sizes = counts[place : place + 2]
        cells, inner = _numbered([[level[key] for key in above] for level in (above, below)], sizes)
        order = np.argsort(cells)
        ascending = cells[order]
        found = np.searchsorted(ascending, inner)
        are_distinct = np.unique(cells).size == cells.size
        if not are_distinct or found.max(initial=0) >= cells.size:
            return None
        parent = order[found]
        if (ascending[found] != inner).any() or np.unique(parent).size != cells.size:
            return None
        parents.append(parent)
    return Hierarchy(tuple(counts), tuple(parents))


def _margins(codes: _Codes, counts: Sequence[int]) -> Margins | None:
    """Keys that always stand together are one factor, of the combinations that there are."""
    held: dict[tuple[int, ...], list[str]] = {}
    for key in dict.fromkeys(key for level in codes for key in level):
        where = tuple(place for place, level in enumerate(codes) if key in level)
        held.setdefault(where, []).append(key)
    factors: list[Factors] = [() for _ in codes]
    numbers: list[tuple[Indices, ...]] = [() for _ in codes]
    sizes: list[int] = []
    for factor, (where, keys) in enumerate(held.items()):
        rows = [[codes[place][key] for key in keys] for place in where]
        together = _numbered(rows, [counts[place] for place in where])
        values, joined = np.unique(np.concatenate(together), return_inverse=True)
        sizes.append(values.size)
        for place, part in zip(where, _split(joined, together), strict=True):
            factors[place] = (*factors[place], factor)
            numbers[place] = (*numbers[place], part)
    places: list[Indices] = []
    for level, parts, count in zip(factors, numbers, counts, strict=True):
        shape = tuple(sizes[factor] for factor in level)
        if math.prod(shape) != count:
            return None
        grid = np.ravel_multi_index(parts, shape) if shape else np.zeros(1, dtype=np.int64)
        if np.unique(grid).size != count:
            return None
        places.append(grid)
    return Margins(tuple(sizes), tuple(factors), tuple(places))


def _numbered(levels: Sequence[Sequence[Indices]], counts: Sequence[int]) -> list[Indices]:
    """One number for each combination of numbers, the same in all `levels`."""
    whole = [np.zeros(count, dtype=np.int64) for count in counts]
    for parts in zip(*levels, strict=True):
        most = 1 + max(int(part.max(initial=0)) for part in parts)
        if max(int(numbers.max(initial=0)) for numbers in whole) >= _UNRELATED // most:
            dense = np.unique(np.concatenate(whole), return_inverse=True)[1]
            whole = _split(dense, whole)
        whole = [numbers * most + part for numbers, part in zip(whole, parts, strict=True)]
    return whole


def _split(joined: Indices, like: Sequence[Indices]) -> list[Indices]:
    return np.split(joined, np.cumsum([part.size for part in like])[:-1])
