"""Sensitivity of a bounded release: exact integers, no tolerance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import isqrt
from typing import assert_never

from msgspec import Struct

from dpsql.analysis.capped_sums import groups_at_sum_cap
from dpsql.analysis.joint_sensitivity import StatisticGroup, statistic_groups
from dpsql.analysis.stability import limited_stability
from dpsql.analysis.unit_contribution import (
    norm_interval,
    partial_bound,
    partial_interval,
    rows_of_norm,
    rows_per_group,
)
from dpsql.errors import Refused
from dpsql.plan.bounded_release.bounded_release import (
    BoundedRelease,
    ByDomain,
    ByNorm,
    Limited,
    LimitGroups,
    OneRowPerUnit,
)
from dpsql.plan.bounded_release.statistic import CappedSum, PairwiseDeviations, Statistic
from dpsql.privacy.distance import NeighborDistance, PerGroup
from dpsql.structs import replace

NormTerm = Callable[[int, int], Fraction]
"""A statistic's index and integer change to a weighted power of that change."""


class Norm(Struct, frozen=True):
    """A bound on all changes together, in a norm with any weights.

    They have at most the norm as if each statistic group changed as in the worst of its corners, in
    as many groups as `groups` has for it: a unit's rows may fill fewer groups than it is in.
    """

    groups: tuple[int, ...]
    statistic_groups: tuple[StatisticGroup, ...]

    @property
    def groups_of_each(self) -> tuple[int, ...]:
        """The number of groups that can change, for each statistic by its index."""
        numbers = {
            p: n for b, n in zip(self.statistic_groups, self.groups, strict=True) for p in b.indices
        }
        return tuple(numbers[index] for index in range(len(numbers)))

    @property
    def independent_bounds(self) -> tuple[int, ...] | None:
        """The largest change of each statistic; None if not all can be extreme at once."""
        if any(len(block.corners) > 1 for block in self.statistic_groups):
            return None
        bounds = {
            p: c
            for b in self.statistic_groups
            for p, c in zip(b.indices, b.corners[0], strict=True)
        }
        return tuple(bounds[index] for index in range(len(bounds)))

    @property
    def corners(self) -> tuple[tuple[tuple[int, ...], ...], ...]:
        """The corners of each group of statistics, as changes of all statistics."""
        indices = range(sum(len(block.indices) for block in self.statistic_groups))
        return tuple(
            tuple(
                tuple(dict(zip(block.indices, corner, strict=True)).get(p, 0) for p in indices)
                for corner in block.corners
            )
            for block in self.statistic_groups
        )

    def total(self, measure: NormTerm) -> Fraction:
        """Sum `measure`(index, change) over all statistics and groups, at the worst corners."""
        worst = (number * b for number, b in zip(self.groups, self._extremes(measure), strict=True))
        return sum(worst, Fraction(0))

    def per_group(self, measure: NormTerm) -> Fraction:
        """Sum `measure`(index, change) over statistics in a single group, at the worst corners."""
        return sum(self._extremes(measure), Fraction(0))

    def _extremes(self, measure: NormTerm) -> list[Fraction]:
        """Sum `measure`(index, change) at the worst corner of each group of statistics."""
        return [
            max(
                sum((measure(p, c) for p, c in zip(b.indices, k, strict=True)), Fraction(0))
                for k in b.corners
            )
            for b in self.statistic_groups
        ]


class Sensitivity(Struct, frozen=True):
    """In a group statistic j changes by at most `per_group[j]`, in all as `l1` and `l2` say.

    `units` steps lead from one neighbour to the other, and each of these units is in at most
    `groups` groups. All of them may be in the same groups, where their changes add up to
    `per_group`. Or their groups differ, up to `units * groups` of them, and each changes less: in
    any norm, the sum of k units' changes is at most k times the worst of one (triangle inequality).
    `is_replacement`: one half of the units take the place of the other half.
    """

    groups: int
    per_group: tuple[int, ...]
    units: int
    l1: Norm
    l2: Norm
    is_replacement: bool = False


def sensitivity(release: BoundedRelease, distance: NeighborDistance) -> Sensitivity:
    """Bound what neighbours at `distance` change in the integers of `release`.

    Raises Refused for squared differences of pairs of rows where neighbours remove rows.
    """
    changed = limited_stability(release.limited, distance.steps)
    statistics = release.contributions.statistics
    if distance.is_replacement:
        return _replaced(release, changed)
    if any(isinstance(s.term, PairwiseDeviations) for s in statistics):
        raise Refused(
            "squared differences of all pairs of rows have no bound where rows are removed",
            hint="ask with neighbors: change_one",
            note="public_rows",
        )
    bounds = tuple(partial_bound(s, release.limited) for s in statistics)
    return Sensitivity(
        groups=changed.groups_per_unit,
        per_group=tuple(changed.units * bound for bound in bounds),
        units=changed.units,
        l1=_norm(changed.groups_per_unit, release, changed.units, squared=False),
        l2=_norm(changed.groups_per_unit, release, changed.units, squared=True),
    )


def _norm(
    groups: int, release: BoundedRelease, units: int, *, squared: bool, times: int = 1
) -> Norm:
    """The bound for units with rows in one database; or, in `times` as many groups, in both."""
    statistics, limited = release.contributions.statistics, release.limited
    rows = [units * rows_of_norm(s, limited) for s in statistics]
    blocks = tuple(block.of_rows(rows) for block in statistic_groups(statistics, squared=squared))
    numbers = [_filled_groups(s, limited, groups, squared=squared) for s in statistics]
    # A block is of rows, of units, or of one sum with a cap: joint never has two in one.
    filled = [max(numbers[index] for index in block.indices) for block in blocks]
    return Norm(tuple(times * number for number in filled), blocks)


def _filled_groups(statistic: Statistic, limited: Limited, groups: int, *, squared: bool) -> int:
    """How many groups a unit fills at most, or one would that had the norm of any other."""
    if not statistic.is_row_sum:
        return groups
    if isinstance(statistic.term, CappedSum):
        return groups_at_sum_cap(statistic, limited, groups)
    return _groups_of_rows(limited, groups, squared=squared)


def groups_at_row_limit(limited: Limited, groups: int) -> int:
    """How many of its `groups` groups a unit can fill with as many rows as count in one group.

    Let u_g rows of a unit count in group g: none is more than r, `rows_per_group`, and all
    together are no more than R, `rows`. A sum of convex functions of them that are 0 at 0, as is
    Σ u_g, Σ u_g² or the loss of Laplace noise, is largest in a corner of what they can be: where
    Σ u_g may be ⌈R / r⌉·r, that is r in ⌈R / r⌉ groups and 0 in all others. Of 120 rows at most,
    60 at most in each of six groups: no more than two groups of 60, and not 360 rows.
    """
    match limited:
        case LimitGroups(rows=int(rows)):
            return min(groups, -(-rows // rows_per_group(limited)))
        case LimitGroups() | OneRowPerUnit():
            return groups
        case missing:
            assert_never(missing)


def _groups_of_rows(limited: Limited, groups: int, *, squared: bool) -> int:
    """How many groups a unit would fill with rows that had the norm of any unit's rows.

    Of a unit whose sums are scaled to their norm, k / parts times the rows that count in group g
    are w_g rows, and it adds at most the norm of the worst row times w_g. By what is emitted,
    Σ w_g² <= G·r², with r = `rows_per_group`: as of r rows in each of G groups. Among c cells,
    Σ w_g <= √(c·Σ w_g²) <= √(c·G)·r (Cauchy and Schwarz), as of r rows in √(c·G) groups. Where
    Σ w_g <= G·r, no w_g is above r: what is convex in them is largest where G are r, and others 0.
    """
    match limited:
        case LimitGroups(limit=ByNorm(order=1, groups=full)):
            return full
        case LimitGroups(limit=ByNorm(groups=full, cells=cells)):
            return full if squared else isqrt(cells * full - 1) + 1
        case LimitGroups() | OneRowPerUnit():
            return groups_at_row_limit(limited, groups)
        case missing:
            assert_never(missing)


def _replaced(release: BoundedRelease, changed: PerGroup) -> Sensitivity:
    """The sensitivity where `changed.units / 2` units are replaced: a sum t in a group becomes t'.

    Both lie in the interval [-a, b] that the unit's sum is clamped to, and 0 does: t and t' are at
    most a + b apart. In a table of [6, 10] a row's change moves a count of all rows by 0, one of
    some rows by 1, a sum by 4 where it is one of differences from 8, by 10 where rows drop out.
    """
    units, groups = changed.units // 2, changed.groups_per_unit
    statistics, limited = release.contributions.statistics, release.limited
    intervals = [norm_interval(s, limited) for s in statistics]
    widths = [high - low for low, high in (partial_interval(s, limited) for s in statistics)]
    norms = []
    for squared in (False, True):
        # The groups of the two units are others, or the same: in up to `groups` of them t, in up to
        # `groups` t', in those they share |t - t'| <= |t| + |t'|.
        # So it is where rows in all are limited: what t and t' are at worst is convex in how many
        # rows of either count in each group, and largest where these are r or 0 (filled_groups);
        # or, of a sum with a cap, in φ of either, and largest where these are 1 or 0.
        norm = _norm(groups, release, units, squared=squared, times=2)
        if squared:
            norm = replace(
                norm,
                statistic_groups=tuple(
                    _widened(b, intervals, units, release.limited) for b in norm.statistic_groups
                ),
            )
        if _has_few_groups(release):
            # There are no others: |t - t'| in each.
            alone = [StatisticGroup((p,), ((units * width,),)) for p, width in enumerate(widths)]
            own = Norm((groups,) * len(alone), tuple(alone))
            norm = _less(norm, own, widths, power=1 + squared)
        norms.append(norm)
    l1, l2 = norms
    per_group = tuple(units * width for width in widths)
    return Sensitivity(groups, per_group, changed.units, l1, l2, is_replacement=True)


def _widened(
    block: StatisticGroup, intervals: Sequence[tuple[int, int]], units: int, limited: Limited
) -> StatisticGroup:
    """The group `block` with corners such that twice their squares bound those of t - t'.

    Of one statistic: (t - t')² <= (a + b)², and t² + t'² <= 2·max(a, b)² in groups that aren't
    shared. Of several: (t - t')² <= t² + t'² where all values have one sign, 2·(t² + t'²) else, and
    either t or t' adds no more than the worst corner does. The bound holds in any weights.

    Where sums are scaled to their L2 norm, t and t' are any parts of an end: twice as much of b in
    one group as of -a, and in another the other way round. (t - t')² is at most (a² + b²) times
    what the parts' squares add up to (Cauchy and Schwarz), which is bounded. Of [-1, 2] these are
    (2·2 + 1·1)² = 25 in each of two groups, where either unit's squares add up to 5: 9/2 times
    these 10 are less than 50.
    """
    if len(block.indices) == 1:
        low, high = intervals[block.indices[0]]
        bound = max(-low, high, _root_up((high - low) ** 2, 2))
        if _has_l2_norm(limited):
            bound = _root_up(low**2 + high**2, 1)
        return StatisticGroup(block.indices, ((units * bound,),))
    signed = [intervals[index][0] < 0 < intervals[index][1] for index in block.indices]
    corners = tuple(
        tuple(_root_up(2 * c * c, 1) if s else c for s, c in zip(signed, corner, strict=True))
        for corner in block.corners
    )
    return StatisticGroup(block.indices, corners)


def _has_l2_norm(limited: Limited) -> bool:
    match limited:
        case LimitGroups(limit=ByNorm(order=order)):
            return order == 2
        case LimitGroups() | OneRowPerUnit():
            return False
        case missing:
            assert_never(missing)


def _root_up(square: int, parts: int) -> int:
    """The least integer whose square times `parts` is at least `square`."""
    root = isqrt(square // parts)
    return root if parts * root * root >= square else root + 1


def _less(one: Norm, other: Norm, widths: Sequence[int], *, power: int) -> Norm:
    """The lower of two bounds that both hold, statistics weighted by their own widths."""
    scales = [Fraction(width) ** power for width in widths]
    return min(one, other, key=lambda norm: norm.total(lambda p, c: c**power / scales[p]))


def _has_few_groups(release: BoundedRelease) -> bool:
    """All groups that the release can have count as the groups of one unit."""
    match release.limited:
        case OneRowPerUnit(source=terms):
            return not terms.keys
        case LimitGroups(limit=limit):
            return isinstance(limit, ByDomain)
        case missing:
            assert_never(missing)
