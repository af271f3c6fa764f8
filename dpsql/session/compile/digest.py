"""Digests: what is compared in the place of meanings, of whatever size."""

from __future__ import annotations

import hashlib
from functools import lru_cache

from dpsql.plan.bounded_release.bounded_release import Cell

Digest = str

_SORTED = 10_000
"""So many cells are put in order here."""


def digest_of(kind: str, *parts: str) -> Digest:
    """One digest of all `parts`, in their order."""
    return hashlib.sha256(repr((kind, *parts)).encode()).hexdigest()


def digest_of_cells(cells: tuple[Cell, ...]) -> Digest:
    """The digest of a list of cells, in whatever order it has few of them."""
    return _cells(_List(cells))


class _List:
    """A list of cells by where it is: to compare two of a million takes as long as to read one."""

    def __init__(self, cells: tuple[Cell, ...]) -> None:
        self.cells = cells

    def __hash__(self) -> int:
        return id(self.cells)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _List) and self.cells is other.cells


@lru_cache(maxsize=4)
def _cells(found: _List) -> Digest:
    """Up to a million cells, in which nothing is to be read; answers are sorted anyway.

    Long lists are rows of public tables, which come in order; others as a statement has them.
    """
    if len(found.cells) > _SORTED:
        return digest_of("cells", repr(found.cells))
    return digest_of("cells", *sorted(map(repr, found.cells)))
