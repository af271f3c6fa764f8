"""The digest of a list of cells, in whatever order it has few of them."""

from __future__ import annotations

from functools import lru_cache
from operator import itemgetter

from dpsql.engine.digest import ATOMS, Digest, digest_of, encoded
from dpsql.plan.bounded_release.bounded_release import Cell
from dpsql.plan.bounded_release.cell_list import CellList

_SORTED = 10_000
"""So many cells are put in order here."""


def digest_of_cells(cells: tuple[Cell, ...]) -> Digest:
    """The digest of `cells`, which all have one number of values."""
    return _cells(CellList(cells))


@lru_cache(maxsize=4)
def _cells(column: CellList) -> Digest:
    """Up to a million cells, in which nothing is to be read; answers are sorted anyway.

    Long lists are rows of public tables, which come in order; others as a statement has them.
    """
    cells = column.cells
    widths = set(map(len, cells))
    if len(widths) > 1:
        raise ValueError("cells of one list have as many values each")
    width = widths.pop() if widths else 0
    columns = [_texts([cell[index] for cell in cells]) for index in range(width)]
    if len(cells) <= _SORTED:
        rows = sorted(zip(*columns, strict=True))
        columns = [list(map(itemgetter(index), rows)) for index in range(width)]
    return digest_of("cells", f"{len(cells):x}", *map(_column, columns))


def _texts(values: list[object]) -> list[str]:
    kinds = set(map(type, values))
    # Of a million values of one type, a call for each is spared.
    one = ATOMS.get(kinds.pop()) if len(kinds) == 1 else None
    return list(map(encoded if one is None else one, values))


def _column(texts: list[str]) -> Digest:
    """Of all texts one after the other: where each ends, their lengths tell."""
    return digest_of("values", ",".join(map(str, map(len, texts))), "".join(texts))
