"""What a release becomes once it is bounded: an operator chain whose every limit is emitted.

Release
LimitGroups(ByHash(groups=12))      each unit keeps at most 12 of its groups; its sums in them are
                                    scaled together where they are of more than `rows` rows
ClampPerGroup(rows_per_group=60)  each unit's sums lie in 60 times their rows' interval
PerUnitGroup                    one row per (unit, group), integer sums
Contributions                 one row per row: unit, keys, clamped integers
Restrict                    keys lie in the enumerated domain
Filter(Scan)
"""

from __future__ import annotations

from math import isqrt
from typing import assert_never

from msgspec import Struct

from dpsql.plan.bounded_release.cell_selection import CellChoice
from dpsql.plan.bounded_release.estimator import EstimatedColumn
from dpsql.plan.bounded_release.statistic import Statistic
from dpsql.plan.bounded_release.unit_weight import UnitWeight
from dpsql.plan.operator import Output, Plan
from dpsql.privacy.domain import Value
from dpsql.privacy.subsampling import PoissonSampling

Cell = tuple[Value | None, ...]


class KeyDomain(Struct, frozen=True):
    """The enumerated cells of some of the keys, distinct; other rows are dropped by a join."""

    keys: tuple[int, ...]
    cells: tuple[Cell, ...]


class Contributions(Struct, frozen=True):
    """One row per row of `source`: its unit, keys, statistics' clamped terms, selections' cells.

    Rows whose keys lie outside `domains` are dropped.
    """

    source: Plan
    keys: tuple[Output, ...]
    domains: tuple[KeyDomain, ...]
    statistics: tuple[Statistic, ...]
    cell_choices: tuple[CellChoice, ...] = ()

    @property
    def unlisted_keys(self) -> tuple[Output, ...]:
        """The keys that no domain lists."""
        listed = {index for domain in self.domains for index in domain.keys}
        return tuple(key for index, key in enumerate(self.keys) if index not in listed)

    @property
    def weighs_units(self) -> bool:
        """Keys are chosen by weights of units, for which all groups of a unit must be known."""
        return any(isinstance(each.term, UnitWeight) for each in self.statistics)


class PerUnitGroup(Struct, frozen=True):
    """One row per (unit, group): the unit's number of rows there, and its sums of terms."""

    source: Contributions


class ClampPerGroup(Struct, frozen=True):
    """Scale units of more than `rows_per_group` rows in a group down to it, then clamp each sum.

    Sums and counts are scaled together, so that means stay right, and truncated toward 0. Sums with
    a cap aren't scaled: of however many rows, the cap leaves as much as of `rows_per_group`.
    """

    source: PerUnitGroup
    rows_per_group: int


class ByHash(Struct, frozen=True):
    """Each unit keeps the `groups` of its groups that come first by a keyed hash of unit and group.

    The hash's key is secret, and fresh for each release.
    """

    groups: int


class ByRank(Struct, frozen=True):
    """Each unit keeps `groups` of its groups, which follow each other in the order of all cells.

    After a unit's last group comes its first one. Which of them it begins with the keyed hash of
    the unit says, so that each is kept as often as any other. There are no more than `ranks` cells,
    2^k - 1.
    """

    groups: int
    ranks: int


class ByStoredRank(Struct, frozen=True):
    """Each unit keeps the groups whose rank, stored beside its rows, is at most `groups`.

    A group is a value of the table's `column`, whose rank among the values of the unit was made by
    a keyed hash when the sidecar that stores it was. `without_sidecar` is how groups are chosen
    where there is none: another choice by the same law.
    """

    groups: int
    column: str
    without_sidecar: ByHash | ByRank


class ByDomain(Struct, frozen=True):
    """There are no more than `groups` groups, since all keys lie in the enumerated domain."""

    groups: int


class ByUnit(Struct, frozen=True):
    """The unit determines the keys, by verified keys of `tables`: each unit has one group."""

    tables: tuple[str, ...]


class ByNorm(Struct, frozen=True):
    """Each unit keeps all its groups, of `cells` that there are, and its sums in them are scaled.

    Where keys aren't listed, it keeps the `cells` of its groups that come first by a keyed hash.

    Let u_g rows of a unit count in group g, of which r, `rows_per_group`, is the largest number,
    and let p be the `order` of the norm, 1 or 2. Its sums are multiplied by k with
    k^p·Σ u_g^p <= parts^p·groups·r^p, and are numbers of parts then, with the norm of sums that
    fill `groups` groups at most. A unit that has no more than these counts whole: k is `parts`.
    """

    groups: int
    cells: int
    parts: int
    order: int

    def weights(self, rows_per_group: int) -> tuple[tuple[int, int], ...]:
        """Pairs of a largest Σ u_g^p and the largest k for it, for what is more than limits allow.

        The first pair that has enough is a unit's. From one to the next k is less by 1/64, or as
        little as whole numbers allow, down to where rows fill all cells.
        """
        of_group = rows_per_group**self.order
        allowed = self.parts**self.order * self.groups * of_group
        pairs: list[tuple[int, int]] = []
        weight, powers = self.parts, self.groups * of_group
        while powers < self.cells * of_group and weight > 1:
            weight -= max(1, weight // 64)
            if allowed // weight**self.order > powers:
                powers = allowed // weight**self.order
                largest = allowed // powers
                pairs.append((powers, largest if self.order == 1 else isqrt(largest)))
        return tuple(pairs)


GroupLimit = ByHash | ByRank | ByStoredRank | ByDomain | ByUnit | ByNorm
"""How the groups that a unit counts in are chosen: of all that follows it, only this and the salt
decide which integers a release has."""


class LimitGroups(Struct, frozen=True):
    """Each unit is in at most so many groups, and counts for at most `rows` rows in all of them.

    Of a unit of more rows so many count, whole ones, spread over all its groups; its sums in each
    are scaled by what is left of its rows there, truncated toward 0. Where one sum is all there is,
    its rows are as few of the largest value as reach it. Of a group's rows no more count than
    `rows_per_group`. None where the other limits say as much.
    """

    source: ClampPerGroup
    limit: GroupLimit
    rows: int | None = None

    @property
    def contributions(self) -> Contributions:
        """The rows' terms, below every limit."""
        return self.source.source.source


class OneRowPerUnit(Struct, frozen=True):
    """Each unit has one row by how `source` is made, hence one group: nothing to limit."""

    source: Contributions


Limited = LimitGroups | OneRowPerUnit


def integer_parts(limited: Limited) -> int:
    """The number of integers of the engine that are one integer of a statistic."""
    match limited:
        case LimitGroups(limit=ByNorm(parts=parts)):
            return parts
        case LimitGroups() | OneRowPerUnit():
            return 1
        case missing:
            assert_never(missing)


def contributions_of(limited: Limited) -> Contributions:
    """The rows' terms, below every limit."""
    match limited:
        case OneRowPerUnit(source=terms):
            return terms
        case LimitGroups(contributions=terms):
            return terms
        case missing:
            assert_never(missing)


class MinUnits(Struct, frozen=True):
    """Groups are dropped whose noisy number of units, at `count_index`, is below `threshold`.

    None: those that may be empty, whose number is no larger than the half-width of its noise.
    """

    count_index: int
    threshold: int | None


class BoundedRelease(Struct, frozen=True):
    """A release ready to be emitted: `limited` gives integers, `outputs` say what they mean.

    `partition_count_index` is the index of the unit count that decides which unlisted keys appear;
    None if all keys are enumerated. `notes` tell the analyst where limits and bounds came from.
    `sampling` is how the units were drawn whose rows are read, None where all are read.
    """

    limited: Limited
    outputs: tuple[EstimatedColumn, ...]
    partition_count_index: int | None
    notes: tuple[str, ...]
    min_units: MinUnits | None = None
    sampling: PoissonSampling | None = None

    @property
    def shows_all_cells(self) -> bool:
        """All keys are enumerated, and no noise decides which of them are shown."""
        return self.partition_count_index is None and self.min_units is None

    @property
    def contributions(self) -> Contributions:
        """The rows' terms, below every limit."""
        return contributions_of(self.limited)
