"""Limits: how many rows a unit counts for in a group, and in how many groups it is.

A limit is tightened where declared keys say that nothing is lost by it. It is left out of the
emitted SQL where it holds by how the statement is made: each row is a unit, rows are grouped by
unit, or an enumerated domain has no more groups. For that no key of a private table is believed,
verified or not, with one exception: where the unit determines all keys by verified ones, its only
group isn't looked for again, which would cost several times what the rest does.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from dpsql.analysis.lineage.functional_dependency import Trusted, declared, one_row_per_unit
from dpsql.analysis.lineage.lineage import private_scans
from dpsql.analysis.sensitivity import groups_at_row_limit
from dpsql.bounding.group_choice import (
    cell_count,
    choose_group_limit,
    scaled_to_norm,
    unit_independent_keys,
)
from dpsql.bounding.options import ContributionLimits
from dpsql.bounding.public_facts import Facts
from dpsql.plan.bounded_release.bounded_release import (
    ByUnit,
    ClampPerGroup,
    Contributions,
    Limited,
    LimitGroups,
    OneRowPerUnit,
    PerUnitGroup,
)
from dpsql.privacy.over_groups import OverGroups
from dpsql.schema.model import EntityUnit, Limits, Public, RowUnit, Table

_BY_ROWS: Final = "as many as a unit's rows, which are limited in all of them"


class ContributionBounds(Struct, frozen=True):
    """What a unit may contribute to a release, and why.

    `rows` in all its groups, None where the other limits leave it no more.
    """

    groups: int
    rows_per_group: int
    reasons: tuple[str, ...]
    rows: int | None = None


def limit_contributions(
    contributions: Contributions, facts: Facts, requested: ContributionLimits
) -> tuple[Limited, tuple[str, ...]]:
    """`contributions` under every limit it needs, with the reasons in words."""
    # Rows that the engine has grouped by unit are limited as well: it costs 3 % of TPC-H's time.
    rows = all(isinstance(s.table.ownership, RowUnit) for s in private_scans(contributions.source))
    if rows and one_row_per_unit(contributions.source, _of_public(facts)):
        return OneRowPerUnit(contributions), ("one row per unit: each row is a unit",)
    bounds = contribution_bounds(contributions, requested)
    clamped = ClampPerGroup(PerUnitGroup(contributions), bounds.rows_per_group)
    limit = choose_group_limit(contributions, bounds.groups, bounds.rows_per_group, facts)
    table = highest_fanout_table(contributions)
    if requested.tightened(table.limits).over_groups is OverGroups.SCALE:
        filled = bounds.groups
        if bounds.rows is not None:
            # Rows in all are as many as fill so many groups: so does the norm.
            filled = min(filled, -(-bounds.rows // bounds.rows_per_group))
        full = filled, bounds.rows_per_group
        scaled = scaled_to_norm(contributions, full, limit, requested.norm_order or 2)
        if scaled is not None:
            own = f"{scaled.cells} of its own" if contributions.unlisted_keys else "its own"
            reason = (
                f"a unit of more than fills {scaled.groups} groups counts less in each of {own}"
            )
            return LimitGroups(clamped, scaled), (*bounds.reasons, reason)
    # Where the unit determines the group, or nothing is a sum of rows, there is nothing to limit.
    summed = not isinstance(limit, ByUnit) and any(s.is_row_sum for s in contributions.statistics)
    if bounds.rows is None or not summed:
        return LimitGroups(clamped, limit), bounds.reasons
    limited = LimitGroups(clamped, limit, bounds.rows)
    filled = groups_at_row_limit(limited, bounds.groups)
    origin = _origin(table, "rows", requested.tightened(table.limits), requested.origin)
    reason = f"{origin}, in all groups: as many as fill {filled} of them"
    return limited, (*bounds.reasons, reason)


def _of_public(facts: Facts) -> Trusted:
    """Keys of public tables are looked up in what is read: no private row decides about them."""
    return lambda table: (
        isinstance(table, Table) and isinstance(table.ownership, Public) and facts.verified(table)
    )


def contribution_bounds(
    contributions: Contributions, requested: ContributionLimits
) -> ContributionBounds:
    """Limits by declared keys, domains, schema and session; all of them are enforced."""
    if one_row_per_unit(contributions.source, declared):
        grouped = one_row_per_unit(contributions.source, lambda _: False)
        why = "its rows are grouped by unit" if grouped else "by declared keys"
        return ContributionBounds(1, 1, (f"one row per unit: {why}, enforced",))
    table = highest_fanout_table(contributions)
    limits = requested.tightened(table.limits)
    free = _unit_independent_cells(contributions)
    groups = limits.groups if free is None else min(limits.groups, free)
    origin = requested.origin
    reasons = [_is_small(groups)]
    if groups == limits.groups:
        reasons = [_origin(table, "groups", limits, origin)]
    if groups == 1:
        # In its only group a unit has all its rows.
        rows = limits.rows
        reasons.append(_origin(table, "rows", limits, origin))
        return ContributionBounds(groups, rows, tuple(reasons))
    if "rows" not in limits.declared and requested.rows is None:
        # Who says how many rows count in each group says by that how many do in all of them.
        reasons.append(_origin(table, "rows_per_group", limits, origin))
        return ContributionBounds(groups, limits.rows_per_group, tuple(reasons))
    rows = min(limits.rows_per_group, limits.rows)
    name = "rows_per_group" if rows == limits.rows_per_group else "rows"
    reasons.append(_origin(table, name, limits, origin))
    # Where it saves no group's worth of rows, it would be enforced for nothing.
    in_all = limits.rows if -(-limits.rows // rows) < groups else None
    if requested.groups_by_rows and requested.groups is None and in_all is not None:
        cells = in_all if free is None else min(in_all, free)
        if cells > groups:
            groups = cells
            reasons[0] = f"groups = {groups}: {_BY_ROWS if groups == in_all else 'all there are'}"
    return ContributionBounds(groups, rows, tuple(reasons), in_all)


def highest_fanout_table(contributions: Contributions) -> Table:
    """The private table farthest from the unit: its rows are what a unit has most of."""

    def hops(table: Table) -> int:
        own = table.ownership
        if not isinstance(own, EntityUnit):
            return 0
        # The entity's own table has one row of a unit, one that references it may have many.
        return len(own.hops) + (table.key != (own.column,))

    scans = private_scans(contributions.source)
    return max((s.table for s in scans), key=lambda t: (hops(t), t.limits.rows, t.name))


def _unit_independent_cells(contributions: Contributions) -> int | None:
    """How many groups a unit can be in once the keys it determines are fixed; None if unknown."""
    return cell_count(contributions.domains, unit_independent_keys(contributions, declared))


def _origin(table: Table, name: str, limits: Limits, requested: str) -> str:
    value, declared = getattr(limits, name), getattr(table.limits, name)
    source = (
        f"limits of {table.limits.view or table.display_name}"
        if name in limits.declared
        else "the default"
    )
    return f"{name} = {value}: {source if value == declared else requested}"


def _is_small(groups: int) -> str:
    return f"groups = {groups}: a unit's rows can lie in no more"
