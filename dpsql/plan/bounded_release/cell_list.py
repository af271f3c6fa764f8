"""A list of cells by where it is: to compare two of a million takes as long as to read one."""

from __future__ import annotations

from dpsql.plan.bounded_release.bounded_release import Cell


class CellList:
    """`cells`, which equal no other list, and are held for as long as something is known of them.

    Lists that are public facts are one object for as long as these are known.
    """

    def __init__(self, cells: tuple[Cell, ...]) -> None:
        self.cells = cells

    def __hash__(self) -> int:
        return len(self.cells)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CellList) and self.cells is other.cells
