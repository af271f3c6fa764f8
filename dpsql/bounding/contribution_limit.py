"""Limits: how many rows a unit counts for in a group, and in how many groups it is.

A limit is tightened where declared keys say that nothing is lost by it. It is left out of the
emitted SQL where it holds by how the statement is made: each row is a unit, rows are grouped by
unit, or an enumerated domain has no more groups. For that no key of a private table is believed,
verified or not, with one exception: where the unit determines all keys by verified ones, its only
group isn't looked for again, which would cost several times what the rest does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter

from dpsql.analysis.lineage.functional_dependency import (
    Trusted,
    declared,
    determined,
    is_determined,
    one_row_per_unit,
)
from dpsql.analysis.lineage.lineage import private_scans
from dpsql.analysis.sensitivity import filled_groups
from dpsql.bounding.public_facts import Facts
from dpsql.bounding.settings import Settings
from dpsql.plan.bounded_release.bounded_release import (
    ByDomain,
    ByHash,
    ByUnit,
    ClampPartials,
    GroupLimit,
    KeyDomain,
    Limited,
    LimitGroups,
    OneRowPerUnit,
    Partials,
    Terms,
)
from dpsql.schema.model import EntityUnit, Limits, Public, RowUnit, Table


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a unit may contribute to a release, and why.

    `rows` in all its groups, None where the other limits leave it no more.
    """

    groups: int
    rows_per_group: int
    reasons: tuple[str, ...]
    rows: int | None = None


def limited(terms: Terms, facts: Facts, settings: Settings) -> tuple[Limited, tuple[str, ...]]:
    """`terms` under every limit it needs, with the reasons in words."""
    # Rows that the engine has grouped by unit are limited as well: it costs 3 % of TPC-H's time.
    rows = all(isinstance(s.table.ownership, RowUnit) for s in private_scans(terms.source))
    if rows and one_row_per_unit(terms.source, _of_public(facts)):
        return OneRowPerUnit(terms), ("one row per unit: each row is a unit",)
    bounds = contribution_bounds(terms, settings)
    clamped = ClampPartials(Partials(terms), bounds.rows_per_group)
    limit = _group_limit(terms, bounds, facts)
    # Where the unit determines the group, or nothing is a sum of rows, there is nothing to limit.
    summed = not isinstance(limit, ByUnit) and any(s.is_of_rows for s in terms.statistics)
    if bounds.rows is None or not summed:
        return LimitGroups(clamped, limit), bounds.reasons
    table = finest(terms)
    found = LimitGroups(clamped, limit, bounds.rows)
    filled = filled_groups(found, bounds.groups)
    origin = _origin(table, "rows", settings.tightened(table.limits))
    reason = f"{origin}, in all groups: as many as fill {filled} of them"
    return found, (*bounds.reasons, reason)


def _of_public(facts: Facts) -> Trusted:
    """Keys of public tables are looked up in what is read: no private row decides about them."""
    return lambda table: (
        isinstance(table, Table) and isinstance(table.ownership, Public) and facts.verified(table)
    )


def contribution_bounds(terms: Terms, settings: Settings) -> Bounds:
    """Limits by declared keys, domains, schema and session; all of them are enforced."""
    if one_row_per_unit(terms.source, declared):
        grouped = one_row_per_unit(terms.source, lambda _: False)
        why = "its rows are grouped by unit" if grouped else "by declared keys"
        return Bounds(1, 1, (f"one row per unit: {why}, enforced",))
    table = finest(terms)
    limits = settings.tightened(table.limits)
    free = _free_cells(terms)
    groups = limits.groups if free is None else min(limits.groups, free)
    reasons = [_origin(table, "groups", limits) if groups == limits.groups else _few(groups)]
    if groups == 1:
        # In its only group a unit has all its rows.
        rows = limits.rows
        reasons.append(_origin(table, "rows", limits))
        return Bounds(groups, rows, tuple(reasons))
    if "rows" not in limits.declared and settings.rows is None:
        # Who says how many rows count in each group says by that how many do in all of them.
        reasons.append(_origin(table, "rows_per_group", limits))
        return Bounds(groups, limits.rows_per_group, tuple(reasons))
    rows = min(limits.rows_per_group, limits.rows)
    name = "rows_per_group" if rows == limits.rows_per_group else "rows"
    reasons.append(_origin(table, name, limits))
    # Where it saves no group's worth of rows, it would be enforced for nothing.
    in_all = limits.rows if -(-limits.rows // rows) < groups else None
    return Bounds(groups, rows, tuple(reasons), in_all)


def finest(terms: Terms) -> Table:
    """The private table farthest from the unit: its rows are what a unit has most of."""

    def hops(table: Table) -> int:
        own = table.ownership
        if not isinstance(own, EntityUnit):
            return 0
        # The entity's own table has one row of a unit, one that references it may have many.
        return len(own.hops) + (table.key != (own.column,))

    scans = private_scans(terms.source)
    return max((s.table for s in scans), key=lambda t: (hops(t), t.limits.rows, t.name))


def _group_limit(terms: Terms, bounds: Bounds, facts: Facts) -> GroupLimit:
    if terms.keys and not free_keys(terms, facts.verified):
        return ByUnit(tuple(sorted({s.table.shown for s in private_scans(terms.source)})))
    cells = combined_cells(terms)
    if cells is not None and cells <= bounds.groups:
        return ByDomain(cells)
    return ByHash(bounds.groups)


def combined_cells(terms: Terms) -> int | None:
    """How many groups there are, if all keys are listed; None if not."""
    return _cells(terms.domains, range(len(terms.keys)))


def _free_cells(terms: Terms) -> int | None:
    """How many groups a unit can be in once the keys it determines are fixed; None if unknown."""
    return _cells(terms.domains, free_keys(terms, declared))


def free_keys(terms: Terms, trusted: Trusted) -> list[int]:
    """The places of the keys that the unit doesn't determine, by the keys of `trusted` tables."""
    known = determined(terms.source, trusted)
    return [p for p, key in enumerate(terms.keys) if not is_determined(key.expression, known)]


def _cells(domains: tuple[KeyDomain, ...], keys: Sequence[int]) -> int | None:
    """How many combinations of values the keys at these places can have; None if unknown."""
    wanted = set(keys)
    sizes = []
    for found in domains:
        overlap = [i for i, key in enumerate(found.keys) if key in wanted]
        wanted -= set(found.keys)
        if len(overlap) == len(found.keys):
            sizes.append(len(found.cells))  # which are distinct
        elif overlap:
            sizes.append(len(set(map(itemgetter(*overlap), found.cells))))
    return None if wanted else max(1, math.prod(sizes))


def _origin(table: Table, name: str, limits: Limits) -> str:
    value, declared = getattr(limits, name), getattr(table.limits, name)
    source = (
        f"limits of {table.limits.view or table.shown}"
        if name in limits.declared
        else "the default"
    )
    return f"{name} = {value}: {source if value == declared else 'set for this session'}"


def _few(groups: int) -> str:
    return f"groups = {groups}: a unit's rows can lie in no more"
