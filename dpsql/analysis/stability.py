"""Stability: how far apart the rows of an operator are on neighbouring databases.

grammar_notes/ argues each arm, with the SQL that it is about.
"""

from __future__ import annotations

from typing import assert_never

from dpsql.analysis.lineage.lineage import private_scans
from dpsql.errors import Refused
from dpsql.plan.bounded_release.bounded_release import (
    ByDomain,
    ByHash,
    ByNorm,
    ByRank,
    ByStoredRank,
    ByUnit,
    ClampPerGroup,
    Contributions,
    GroupLimit,
    Limited,
    LimitGroups,
    OneRowPerUnit,
    PerUnitGroup,
)
from dpsql.plan.operator import (
    Aggregate,
    Filter,
    Join,
    Limit,
    MarkJoin,
    OuterJoin,
    Plan,
    Project,
    PublicStatement,
    Release,
    Scan,
    SetOperation,
    Sort,
    Union,
    Values,
    Window,
)
from dpsql.privacy.distance import PerGroup, Units
from dpsql.schema.model import Table


def stability(plan: Plan, units: int) -> Units:
    """Bound the distance of `plan`'s rows on two databases, `units` privacy units apart.

    Raises Refused where ORDER BY or LIMIT stands over private rows, which has no bound.
    """
    match plan:
        case Scan(unit=None):
            return Units(0)
        case Scan(table=Table(resized=int())):
            # A row more takes the place of another, or of a missing one: two rows differ.
            return Units(2 * units)
        case Scan():
            return Units(units)  # rows without a unit are dropped, whoever's they are
        case Filter(source=source) | Project(source=source):
            return stability(source, units)  # each row is kept or computed on its own
        case Join(sources=sources):
            # Rows meet rows of their own unit, or public rows: the emitted join equates the units
            # of all private sources, so the units that changed are the same in all of them.
            return Units(max(stability(source, units).count for source in sources))
        case OuterJoin(left=left, right=right) | SetOperation(left=left, right=right):
            # The same, and a row without a partner stays with its own unit.
            return Units(max(stability(left, units).count, stability(right, units).count))
        case MarkJoin(source=source, relation=relation):
            # Whether a row has a partner depends on rows of its own unit, or on public ones.
            return Units(max(stability(source, units).count, stability(relation, units).count))
        case Union(sources=sources):
            # The units that changed are the same in all sources, and so in their rows together.
            return Units(max(stability(source, units).count for source in sources))
        case Aggregate(source=source) | Window(source=source):
            return stability(source, units)  # each group or partition holds the rows of one unit
        case Release() | Values() | PublicStatement():
            return Units(0)  # paid for, or of the statement and public rows: public from here on
        case Sort(source=source) | Limit(source=source):
            below = stability(source, units)
            if below.count:
                # LIMIT 1 on two units' rows: without the first, the second's appears.
                raise Refused("ORDER BY and LIMIT apply to released rows only", note="order_limit")
            return below
        case missing:
            assert_never(missing)


def contribution_stability(contributions: Contributions, units: int) -> Units:
    """The distance of a release's contributions, which are dropped or computed row by row.

    Raises Refused for a resized table that is read beside another one. What is left of its rows is
    numbered in the order of a hash of what is read, so that in two relations one number is two
    rows': what one unit has in both would be another unit's once a row is added.
    """
    scans = private_scans(contributions.source)
    if len(scans) > 1:
        for scan in scans:
            if scan.table.resized is not None:
                raise Refused(
                    f"{scan.table.display_name} is resized, and its rows are read beside others",
                    hint="read it once in each SELECT, as in SELECT … FROM t, without a join",
                    note="table_sizes",
                )
    return stability(contributions.source, units)


def unit_group_stability(unit_groups: PerUnitGroup | ClampPerGroup, units: int) -> Units:
    """The distance of per-unit groups: each is made of one unit's rows and clamped on its own."""
    match unit_groups:
        case PerUnitGroup(source=terms):
            return contribution_stability(terms, units)
        case ClampPerGroup(source=below):
            return unit_group_stability(below, units)
        case missing:
            assert_never(missing)


def limited_stability(limited: Limited, units: int) -> PerGroup:
    """The distance after the group limit: each changed unit has rows in so many groups at most."""
    match limited:
        case LimitGroups(source=clamped, limit=limit):
            return PerGroup(unit_group_stability(clamped, units).count, _groups(limit))
        case OneRowPerUnit(source=terms):
            return PerGroup(contribution_stability(terms, units).count, 1)
        case missing:
            assert_never(missing)


def _groups(limit: GroupLimit) -> int:
    match limit:
        case (
            ByHash(groups=groups)
            | ByRank(groups=groups)
            | ByStoredRank(groups=groups)
            | ByDomain(groups=groups)
        ):
            return groups
        case ByNorm(cells=cells):
            return cells  # in each of them a unit may change something, if little
        case ByUnit():
            return 1
        case missing:
            assert_never(missing)
