"""Distances of a relation's rows on neighbouring databases; each docstring is a definition.

Two databases are neighbours when one is the other without all rows of one privacy unit
(add/remove), or with those of another unit of its kind in their place (change-one). Replacing a
unit is two steps: its rows are removed, and others added.
"""

from __future__ import annotations

from msgspec import Struct


class NeighborDistance(Struct, frozen=True):
    """How far apart neighbouring databases are: `units` privacy units of one kind differ.

    Each of these units has rows in one of the two databases only; or, if `is_replacement`, each is
    replaced by another unit, so that both databases have equally many units.
    """

    units: int = 1
    is_replacement: bool = False

    @property
    def steps(self) -> int:
        """The units that are removed or added on the way from one database to the other."""
        return 2 * self.units if self.is_replacement else self.units


class Units(Struct, frozen=True):
    """All rows that differ belong to `count` privacy units, the same in every relation of a plan.

    A unit's rows may differ without bound; rows of all other units are the same bag in both
    databases.
    """

    count: int


class PerGroup(Struct, frozen=True):
    """Rows of `units` units differ; each has at most one row in each of `groups_per_unit` groups.

    At most `units * groups_per_unit` (unit, group) rows differ in all, at most `units` per group.
    """

    units: int
    groups_per_unit: int


Distance = Units | PerGroup
