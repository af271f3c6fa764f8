"""How the groups of several grouping sets are parts of each other, so that sums can add up."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa

from dpsql.release.consistency.hierarchy import Hierarchy, Indices
from dpsql.release.consistency.margins import Factors, Margins

Level = Mapping[str, pa.Array]
"""The key columns of a grouping set's rows, by a text of what the key means."""

Nesting = Hierarchy | Margins
_Codes = tuple[dict[str, Indices], ...]
_UNRELATED = 2**62


def nesting(levels: Sequence[Level], counts: Sequence[int]) -> Nesting | None:
    """The structure of `levels`, with `counts` rows each, in which their sums add up.

    It is a hierarchy if each level has the keys of the one before and more, whichever cells there
    are; or margins if levels have any keys, and then all combinations of these. None if it is
    neither.
    """
    codes = _codes(levels)
    chain = all(a.keys() < b.keys() for a, b in pairwise(levels))
    return _hierarchy(codes, counts) if chain else _margins(codes, counts)


def _codes(levels: Sequence[Level]) -> _Codes:
    """Each key's values as numbers, the same in all levels; NULL is a value."""
    codes: tuple[dict[str, Indices], ...] = tuple({} for _ in levels)
    for key in dict.fromkeys(key for level in levels for key in level):
        holders = [level_index for level_index, level in enumerate(levels) if key in level]
        joined = pa.concat_arrays([levels[level_index][key] for level_index in holders])
        encoded = joined.dictionary_encode(null_encoding="encode")
        numbers = np.asarray(encoded.indices.to_numpy(), dtype=np.int64)
        ends = np.cumsum([len(levels[level_index][key]) for level_index in holders])[:-1]
        for level_index, part in zip(holders, np.split(numbers, ends), strict=True):
            codes[level_index][key] = part
    return codes


def _hierarchy(codes: _Codes, counts: Sequence[int]) -> Hierarchy | None:
    parents: list[Indices] = []
    for level_index, (above, below) in enumerate(pairwise(codes)):
        sizes = counts[level_index : level_index + 2]
        cells, inner = _numbered([[level[key] for key in above] for level in (above, below)], sizes)
        order = np.argsort(cells)
        ascending = cells[order]
        positions = np.searchsorted(ascending, inner)
        are_distinct = np.unique(cells).size == cells.size
        if not are_distinct or positions.max(initial=0) >= cells.size:
            return None
        parent = order[positions]
        if (ascending[positions] != inner).any() or np.unique(parent).size != cells.size:
            return None
        parents.append(parent)
    return Hierarchy(tuple(counts), tuple(parents))


def _margins(codes: _Codes, counts: Sequence[int]) -> Margins | None:
    """The margins over factors; keys that are in the same levels are one factor.

    A factor's values are the combinations of its keys' values that there are.
    """
    held: dict[tuple[int, ...], list[str]] = {}
    for key in dict.fromkeys(key for level in codes for key in level):
        where = tuple(level_index for level_index, level in enumerate(codes) if key in level)
        held.setdefault(where, []).append(key)
    factors: list[Factors] = [() for _ in codes]
    numbers: list[tuple[Indices, ...]] = [() for _ in codes]
    sizes: list[int] = []
    for factor, (where, keys) in enumerate(held.items()):
        rows = [[codes[level_index][key] for key in keys] for level_index in where]
        together = _numbered(rows, [counts[level_index] for level_index in where])
        values, joined = np.unique(np.concatenate(together), return_inverse=True)
        sizes.append(values.size)
        for level_index, part in zip(where, _split(joined, together), strict=True):
            factors[level_index] = (*factors[level_index], factor)
            numbers[level_index] = (*numbers[level_index], part)
    positions: list[Indices] = []
    for level, parts, count in zip(factors, numbers, counts, strict=True):
        shape = tuple(sizes[factor] for factor in level)
        if math.prod(shape) != count:
            return None
        grid = np.ravel_multi_index(parts, shape) if shape else np.zeros(1, dtype=np.int64)
        if np.unique(grid).size != count:
            return None
        positions.append(grid)
    return Margins(tuple(sizes), tuple(factors), tuple(positions))


def _numbered(levels: Sequence[Sequence[Indices]], counts: Sequence[int]) -> list[Indices]:
    """One number for each combination of codes, the same number in all `levels`."""
    whole = [np.zeros(count, dtype=np.int64) for count in counts]
    for parts in zip(*levels, strict=True):
        base = 1 + max(int(part.max(initial=0)) for part in parts)
        if max(int(numbers.max(initial=0)) for numbers in whole) >= _UNRELATED // base:
            dense = np.unique(np.concatenate(whole), return_inverse=True)[1]
            whole = _split(dense, whole)
        whole = [numbers * base + part for numbers, part in zip(whole, parts, strict=True)]
    return whole


def _split(joined: Indices, like: Sequence[Indices]) -> list[Indices]:
    """Cut `joined` into arrays of the sizes of those in `like`."""
    return np.split(joined, np.cumsum([part.size for part in like])[:-1])
