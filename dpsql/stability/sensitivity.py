"""Sensitivity of a bounded release: exact integers, no tolerance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from dpsql.plan.bounded import (
    Amount,
    BoundedRelease,
    Limited,
    LimitGroups,
    OneRowPerUnit,
    Ones,
    Presence,
    Present,
    Statistic,
)
from dpsql.stability.distance import limited_distance


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """At most `groups` groups change, and in each, statistic j by at most `per_group[j]`.

    `units` neighbours' steps are in both: `units` units may all be in the same groups. So for
    statistic j, L1 ≤ groups · per_group[j], L2² ≤ groups · per_group[j]², L∞ ≤ per_group[j]; the
    groups are `units · l0` only when their units differ, in which case each changes less:
    Σ over units of l0 groups of B each is at most l0 groups of units · B in every norm.
    """

    groups: int
    per_group: tuple[int, ...]
    units: int


def sensitivity(release: BoundedRelease, units: int) -> Sensitivity:
    """What `units` privacy units can change in the integers of `release`."""
    changed = limited_distance(release.limited, units)
    bounds = tuple(partial_bound(s, release.limited) for s in release.terms.statistics)
    return Sensitivity(
        groups=changed.per_unit,
        per_group=tuple(changed.count * bound for bound in bounds),
        units=changed.count,
    )


def partial_bound(statistic: Statistic, limited: Limited) -> int:
    """The most that one unit adds to or takes from `statistic` in one group."""
    match statistic.term:
        case Presence():
            return 1  # a unit is there or not
        case Ones() | Present() | Amount():
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
