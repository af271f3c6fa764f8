"""Lineage: whose rows a relation holds.

The unit is an attribute of the plan: a column id that the binder never assigns to a column of the
statement, so no alias, join or projection of the statement can redefine it.
"""

from __future__ import annotations

from enum import Enum
from typing import assert_never

from dpsql.plan.expression import Column
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
from dpsql.schema.model import EntityUnit, Public, RowUnit


class Visibility(Enum):
    """The visibility of rows.

    PUBLIC: they are nobody's secret. PRIVATE: each belongs to one privacy unit. RELEASED: they are
    noisy already.
    """

    PUBLIC = "public"
    PRIVATE = "private"
    RELEASED = "released"


def visibility(plan: Plan) -> Visibility:
    """The visibility of `plan`'s rows; those of a join of private and public rows are private."""
    match plan:
        case Scan(unit=None):
            return Visibility.PUBLIC
        case Scan():
            return Visibility.PRIVATE
        case Release():
            return Visibility.RELEASED
        case Values() | PublicStatement():
            return Visibility.PUBLIC
        case Join(sources=sources) | Union(sources=sources):
            return _strictest([visibility(source) for source in sources])
        case OuterJoin(left=left, right=right) | SetOperation(left=left, right=right):
            return _strictest([visibility(left), visibility(right)])
        case MarkJoin(source=source, relation=relation):
            return _strictest([visibility(source), visibility(relation)])
        case (
            Filter(source=source)
            | Project(source=source)
            | Aggregate(source=source)
            | Window(source=source)
            | Sort(source=source)
            | Limit(source=source)
        ):
            return visibility(source)
        case missing:
            assert_never(missing)


def _strictest(kinds: list[Visibility]) -> Visibility:
    for kind in (Visibility.PRIVATE, Visibility.RELEASED):
        if kind in kinds:
            return kind
    return Visibility.PUBLIC


def unit(plan: Plan) -> Column | None:
    """The column that holds each row's privacy unit; None if the rows aren't private."""
    match plan:
        case Scan(unit=column):
            return column
        case Release() | Values() | PublicStatement():
            return None
        case Join(sources=sources):
            # All private sources' units are equal in every row: the emitted join sees to it.
            return next((u for u in map(unit, sources) if u is not None), None)
        case OuterJoin(unit=column) | Union(unit=column):
            return column
        case SetOperation(left=left):
            return unit(left)  # the emitted operation compares units as well
        case (
            Filter(source=source)
            | Project(source=source)
            | MarkJoin(source=source)
            | Aggregate(source=source)
            | Window(source=source)
            | Sort(source=source)
            | Limit(source=source)
        ):
            return unit(source)
        case missing:
            assert_never(missing)


def unit_kind(plan: Plan) -> str | None:
    """The kind of unit that `plan`'s rows belong to: an entity's name, "row of TABLE", or None."""
    kinds = [kind for kind in map(_scan_kind, scans(plan)) if kind is not None]
    return kinds[0] if kinds else None


def scans(plan: Plan) -> list[Scan]:
    """The scans of tables that `plan` reads below any release."""
    match plan:
        case Scan():
            return [plan]
        case Join(sources=sources) | Union(sources=sources):
            return [scan for source in sources for scan in scans(source)]
        case OuterJoin(left=left, right=right) | SetOperation(left=left, right=right):
            return [*scans(left), *scans(right)]
        case MarkJoin(source=source, relation=relation):
            return [*scans(source), *scans(relation)]
        case Release() | Values() | PublicStatement():
            return []
        case (
            Filter(source=source)
            | Project(source=source)
            | Aggregate(source=source)
            | Window(source=source)
            | Sort(source=source)
            | Limit(source=source)
        ):
            return scans(source)
        case missing:
            assert_never(missing)


def _scan_kind(scan: Scan) -> str | None:
    match scan.table.ownership:
        case Public():
            return None
        case RowUnit():
            return f"row of {scan.table.name}"
        case EntityUnit(kind=kind):
            return kind
        case missing:
            assert_never(missing)


def has_row_units(plan: Plan) -> bool:
    """A private table of `plan` has row units: each of its rows is a privacy unit of its own."""
    return any(isinstance(s.table.ownership, RowUnit) for s in private_scans(plan))


def private_scans(plan: Plan) -> list[Scan]:
    """The scans of private tables that `plan` reads below any release."""
    return [scan for scan in scans(plan) if scan.unit is not None]
