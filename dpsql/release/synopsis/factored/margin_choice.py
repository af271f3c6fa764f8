"""Which margins the rounds of a factored synopsis choose among, and how much of them is kept.

Both follow from the keys' domains, and from what was measured before: never from rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

from dpsql.errors import TooComplex
from dpsql.plan.bounded_release.bounded_release import Cell
from dpsql.release.synopsis.cell_partition import MAX_PARTITIONS, Partition, Shape
from dpsql.release.synopsis.weight_fit import Measured

MAX_CELLS = 10**12
"""The largest number of combinations of a factored synopsis' keys."""

MAX_AXES = 30
"""The largest number of domains of its keys."""

MAX_MARGIN_CELLS = 100_000
"""The largest number of cells of one margin: of one that is measured, and of one that is read."""

_STORED_BYTES, _STORED_TEXT = 12 * 2**20, 2 * 2**20
"""What a kept table takes at most: its rows, with 16 bytes for each column, and its keys' texts."""

_MAX_WEIGHED_CELLS = 4_000_000
"""The cells of all candidates together: each round makes all of them."""

_MAX_KEYS = 3
"""The largest number of domains that a margin is measured over."""

Axes = tuple[int, ...]
"""The axes of a margin, ascending: none for the number of rows."""


def margin(shape: Shape, axes: Axes) -> Partition:
    """The partition of a grid of `shape` whose boxes are the cells of the margin over `axes`."""
    return Partition(shape, tuple(1 if axis in axes else n for axis, n in enumerate(shape)))


def candidate_margins(shape: Shape) -> tuple[Partition, ...]:
    """The margins over up to three axes, those with the fewest cells first, as far as they go."""
    own = [axis for axis, n in enumerate(shape) if n > 1]
    sets = (axes for count in range(1, _MAX_KEYS + 1) for axes in combinations(own, count))
    small = [axes for axes in sets if _cells(shape, axes) <= MAX_MARGIN_CELLS]
    small.sort(key=lambda axes: (_cells(shape, axes), axes))
    among, weighed = [], 0
    for axes in small[:MAX_PARTITIONS]:
        weighed += _cells(shape, axes)
        if weighed > _MAX_WEIGHED_CELLS:
            break
        among.append(margin(shape, axes))
    return tuple(among)


def fitting_margins(
    candidates: Sequence[Partition], measured: Sequence[Measured], columns: int
) -> tuple[Partition, ...]:
    """Those of `candidates` that can be kept beside what is `measured`, in so many columns."""
    left = stored_rows(columns) - sum(one.partition.boxes for one in measured)
    return tuple(one for one in candidates if sum(one.shape) + one.boxes <= left)


def stored_rows(columns: int) -> int:
    """How many rows are kept in so many columns: of each key's values, and of what is measured."""
    return _STORED_BYTES // (16 * columns)


def check_domains(domains: Sequence[Sequence[Cell]], columns: int) -> None:
    """Raise TooComplex for keys of which no factored synopsis is, that is kept in so many columns.

    `domains` are the values along each axis.
    """
    shape = tuple(map(len, domains))
    cells, values = math.prod(shape), sum(shape)
    if cells > MAX_CELLS:
        raise TooComplex(
            f"the keys have {cells:,} combinations, and a synopsis has at most {MAX_CELLS:,}",
            hint="use fewer or coarser keys",
            note="synopsis",
        )
    if len(shape) > MAX_AXES:
        raise TooComplex(
            f"a synopsis of so many combinations has at most {MAX_AXES} keys",
            hint="use fewer keys",
            note="synopsis",
        )
    text = sum(
        len(v.encode()) for axis in domains for cell in axis for v in cell if isinstance(v, str)
    )
    limit = stored_rows(columns) // 4
    if values > limit or text > _STORED_TEXT:
        raise TooComplex(
            f"the keys have {values:,} values of {text:,} bytes of text, and a synopsis of so many"
            f" combinations has at most {limit:,}, of {_STORED_TEXT:,} bytes",
            hint="use fewer or coarser keys",
            note="synopsis",
        )


def _cells(shape: Shape, axes: Axes) -> int:
    return math.prod(shape[axis] for axis in axes)
