"""Sums with a cap where rows in all groups are limited: how many groups a unit fills with them.

`unit_contribution` has what one of them is in one group, `joint_sensitivity` why it is bounded
alone.
"""

from __future__ import annotations

from typing import assert_never

from dpsql.analysis.stability import limited_stability
from dpsql.analysis.unit_contribution import partial_bound
from dpsql.plan.bounded_release.bounded_release import Limited, LimitGroups, OneRowPerUnit
from dpsql.plan.bounded_release.statistic import Statistic


def groups_at_sum_cap(statistic: Statistic, limited: Limited, groups: int) -> int:
    """How many of its `groups` groups a unit can fill with as much as `statistic`, capped, may be.

    Where u_g rows of a unit count in group g, each of at most M in either direction, its sum is in
    φ_g times the interval of a unit's sum there, whose farther end is c: φ_g = min(1, u_g·M / c),
    where u_g is r at most and c is r·M at most, as in `partial_bound`. For of u_g rows in [-l, h]
    no sum is above u_g·h, nor above c, and -r·l, if the cap leaves that, is reached by r rows only;
    of more rows than r, which u_g is then, φ_g is 1. With R rows in all, Σφ_g is at most R·M / c:
    where the u_g add up to more, k_g of them count, R in all, and a sum is scaled toward 0 by
    k_g / u_g, so that neither k_g·M nor c is passed. What is convex in φ and 0 at 0 is largest
    where ⌈R·M / c⌉ of them are 1, and the others 0.

    As many groups as R rows fill are too few: of 120 rows in all, 60 in each group, with values up
    to 10 and a cap of 20, two rows in each of six groups are 20 in each, not 20 in two of them.
    """
    match limited:
        case LimitGroups(rows=int(rows)):
            reach = partial_bound(statistic, limited)
            return min(groups, -(-rows * statistic.magnitude // reach))
        case LimitGroups() | OneRowPerUnit():
            # Of a norm of rows, too: one row in each of all groups may reach the cap in each.
            return groups
        case missing:
            assert_never(missing)


def is_scaled_by_rows(statistic: Statistic, limited: LimitGroups) -> bool:
    """Whether `statistic`, capped, is scaled down where a unit has too many rows in all its groups.

    Where it isn't, rows in all could fill each of its groups, and no bound is lower for them.
    """
    groups = limited_stability(limited, 1).groups_per_unit
    return groups_at_sum_cap(statistic, limited, groups) < groups
