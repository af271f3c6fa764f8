"""Stability: how far apart neighbouring databases can push the output of each operator.

Read beside grammar_notes/, which argues every arm.
"""

from __future__ import annotations

from typing import assert_never

from dpsql.errors import Refused
from dpsql.plan.bounded_release.bounded_release import (
    ByDomain,
    ByHash,
    ByUnit,
    ClampPartials,
    GroupLimit,
    Limited,
    LimitGroups,
    OneRowPerUnit,
    Partials,
    Terms,
)
from dpsql.plan.operator import (
    Aggregate,
    Filter,
    Join,
    Limit,
    Mark,
    OuterJoin,
    Plan,
    Project,
    Release,
    Scan,
    SetOperation,
    Sort,
    Union,
    Values,
    Whole,
    Window,
)
from dpsql.privacy.distance import Groups, Units


def distance(plan: Plan, units: int) -> Units:
    """Bound the distance between `plan` on two databases `units` privacy units apart."""
    match plan:
        case Scan(unit=None):
            return Units(0)
        case Scan():
            return Units(units)  # rows without a unit are dropped, whoever's they are
        case Filter(source=source) | Project(source=source):
            return distance(source, units)  # each row is kept or computed on its own
        case Join(sources=sources):
            # Rows meet rows of their own unit, or public rows: the emitted join equates the units
            # of all private sources, so the units that changed are the same in all of them.
            return Units(max(distance(source, units).count for source in sources))
        case OuterJoin(left=left, right=right) | SetOperation(left=left, right=right):
            # The same, and a row without a partner stays with its own unit.
            return Units(max(distance(left, units).count, distance(right, units).count))
        case Mark(source=source, relation=relation):
            # Whether a row has a partner depends on rows of its own unit, or on public ones.
            return Units(max(distance(source, units).count, distance(relation, units).count))
        case Union(sources=sources):
            # The units that changed are the same in all sources, and so in their rows together.
            return Units(max(distance(source, units).count for source in sources))
        case Aggregate(source=source) | Window(source=source):
            return distance(source, units)  # each group or partition holds the rows of one unit
        case Release() | Values() | Whole():
            return Units(0)  # paid for, or of the statement and public rows: public from here on
        case Sort(source=source) | Limit(source=source):
            below = distance(source, units)
            if below.count:
                # LIMIT 1 on two units' rows: without the first, the second's appears.
                raise Refused("ORDER BY and LIMIT apply to released rows only", note="order_limit")
            return below
        case missing:
            assert_never(missing)


def terms_distance(terms: Terms, units: int) -> Units:
    """Rows are dropped or computed one by one."""
    return distance(terms.source, units)


def partials_distance(partials: Partials | ClampPartials, units: int) -> Units:
    """A (unit, group) row is made of its unit's rows alone, and clamped on its own."""
    match partials:
        case Partials(source=terms):
            return terms_distance(terms, units)
        case ClampPartials(source=below):
            return partials_distance(below, units)
        case missing:
            assert_never(missing)


def limited_distance(limited: Limited, units: int) -> Groups:
    """Each changed unit can add or remove its rows in so many groups and no more."""
    match limited:
        case LimitGroups(source=clamped, limit=limit):
            return Groups(partials_distance(clamped, units).count, _groups(limit))
        case OneRowPerUnit(source=terms):
            return Groups(terms_distance(terms, units).count, 1)
        case missing:
            assert_never(missing)


def _groups(limit: GroupLimit) -> int:
    match limit:
        case ByHash(groups=groups) | ByDomain(groups=groups):
            return groups
        case ByUnit():
            return 1
        case missing:
            assert_never(missing)
