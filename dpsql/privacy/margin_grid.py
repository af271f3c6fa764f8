"""A grid of too many cells to list, of which noisy margins are kept."""

from __future__ import annotations

from msgspec import Struct


class MarginGrid(Struct, frozen=True):
    """A grid of which a kept table has margins, and the one that a scan of the table reads.

    `axes` has the names of each axis' keys, `shape` its number of values, and `values` the names of
    what is estimated. `read` are the axes of the margin that is read; None where none is chosen. As
    text it is what tells a margin from others in an engine.
    """

    axes: tuple[tuple[str, ...], ...]
    shape: tuple[int, ...]
    values: tuple[str, ...]
    read: tuple[int, ...] | None = None

    def __str__(self) -> str:
        return "" if self.read is None else " ".join((" by", *map(str, self.read)))
