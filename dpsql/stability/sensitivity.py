"""Sensitivity of a bounded release: exact integers, no tolerance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import assert_never

from dpsql.plan.bounded import BoundedRelease, Limited, LimitGroups, OneRowPerUnit
from dpsql.plan.statistic import (
    Amount,
    Distinct,
    Ones,
    Over,
    Presence,
    Present,
    Product,
    Square,
    Statistic,
)
from dpsql.stability.distance import limited_distance
from dpsql.stability.joint import Block, blocks

Measure = Callable[[int, int], Fraction]


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """At most `groups` groups change, and in each, statistic j by at most `per_group[j]`.

    `units` neighbours' steps are in both: `units` units may all be in the same groups. So for
    statistic j, L1 ≤ groups · per_group[j], L2² ≤ groups · per_group[j]², L∞ ≤ per_group[j]; the
    groups are `units · l0` only when their units differ, in which case each changes less:
    Σ over units of l0 groups of B each is at most l0 groups of units · B in every norm.

    `l1` and `l2` partition the statistics into blocks: what changes in a group has, in any weighted
    norm, at most the sum over the blocks of that of the worst of their corners.
    """

    groups: int
    per_group: tuple[int, ...]
    units: int
    l1: tuple[Block, ...]
    l2: tuple[Block, ...]

    def are_apart(self, found: tuple[Block, ...]) -> bool:
        """All statistics may be extreme at once."""
        return all(len(block.corners) == 1 for block in found)

    def corners(self, found: tuple[Block, ...]) -> tuple[tuple[tuple[int, ...], ...], ...]:
        """For each block its corners, as changes of all statistics."""
        return tuple(
            tuple(
                tuple(dict(zip(block.places, corner, strict=True)).get(p, 0) for p in places)
                for corner in block.corners
            )
            for block in found
            for places in [range(len(self.per_group))]
        )

    def total(self, found: tuple[Block, ...], measure: Measure) -> Fraction:
        """Σ of `measure`(place, change) over blocks `found` and groups, at the worst corners."""
        return self.groups * sum(
            (
                max(
                    sum(
                        (measure(p, c) for p, c in zip(block.places, corner, strict=True)),
                        Fraction(0),
                    )
                    for corner in block.corners
                )
                for block in found
            ),
            Fraction(0),
        )


def sensitivity(release: BoundedRelease, units: int) -> Sensitivity:
    """What `units` privacy units can change in the integers of `release`."""
    changed = limited_distance(release.limited, units)
    statistics = release.terms.statistics
    bounds = tuple(partial_bound(s, release.limited) for s in statistics)
    rows = [
        changed.count * bound // s.magnitude for s, bound in zip(statistics, bounds, strict=True)
    ]
    return Sensitivity(
        groups=changed.per_unit,
        per_group=tuple(changed.count * bound for bound in bounds),
        units=changed.count,
        l1=tuple(block.of_rows(rows) for block in blocks(statistics, squared=False)),
        l2=tuple(block.of_rows(rows) for block in blocks(statistics, squared=True)),
    )


def partial_bound(statistic: Statistic, limited: Limited) -> int:
    """The most that one unit adds to or takes from `statistic` in one group."""
    match statistic.term:
        case Presence() | Over():
            return 1  # a unit is there, with too many rows, or it isn't
        case Distinct(most=most):
            rows = rows_per_group(limited)
            return rows if most is None else min(rows, most)
        case Ones() | Present() | Amount() | Square() | Product():
            return rows_per_group(limited) * statistic.magnitude
        case missing:
            assert_never(missing)


def rows_per_group(limited: Limited) -> int:
    """How many rows' worth a unit counts for in one group."""
    match limited:
        case LimitGroups(source=clamped):
            return clamped.rows_per_group
        case OneRowPerUnit():
            return 1
        case missing:
            assert_never(missing)
