"""Lineage: whose rows a relation holds, and which columns tell the unit apart.

The unit is an attribute of the plan: a column id that binding never hands out, so no alias, join
or projection of the statement can redefine it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Final, assert_never

from dpsql.plan.columns import output_columns
from dpsql.plan.expression import Column, Expression, equated
from dpsql.plan.operator import (
    Aggregate,
    Filter,
    Join,
    Limit,
    Mark,
    OuterJoin,
    OuterKind,
    Plan,
    Project,
    Release,
    Scan,
    SetOperation,
    Sort,
    Union,
    Values,
    Window,
)
from dpsql.schema.model import EntityUnit, Public, RowUnit, Table

Identity = tuple[str, str]
"""A private table and its column whose values tell its rows' units apart."""

NO_TABLE: Final = ""
"""The table of an identity whose value is the unit itself, of the kind that is its column.

No table has that name. Under one that a table may have, say unit, its column `patient` would pass
for the patient.
"""


class Visibility(Enum):
    """PUBLIC: nobody's secret. PRIVATE: each row belongs to one unit. RELEASED: already noisy."""

    PUBLIC = "public"
    PRIVATE = "private"
    RELEASED = "released"


def visibility(plan: Plan) -> Visibility:
    """What `plan`'s rows are; a join of private and public rows is private."""
    match plan:
        case Scan(unit=None):
            return Visibility.PUBLIC
        case Scan():
            return Visibility.PRIVATE
        case Release():
            return Visibility.RELEASED
        case Values():
            return Visibility.PUBLIC
        case Join(sources=sources) | Union(sources=sources):
            return _strictest([visibility(source) for source in sources])
        case OuterJoin(left=left, right=right) | SetOperation(left=left, right=right):
            return _strictest([visibility(left), visibility(right)])
        case Mark(source=source, relation=relation):
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
        case Release() | Values():
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
            | Mark(source=source)
            | Aggregate(source=source)
            | Window(source=source)
            | Sort(source=source)
            | Limit(source=source)
        ):
            return unit(source)
        case missing:
            assert_never(missing)


def unit_kind(plan: Plan) -> str | None:
    """The kind of unit that `plan`'s rows belong to: an entity's name, or "row of TABLE"."""
    kinds = [kind for kind in map(_scan_kind, _scans(plan)) if kind is not None]
    return kinds[0] if kinds else None


def identities(plan: Plan) -> Mapping[Column, frozenset[Identity]]:
    """The columns of private rows whose equality proves that two rows have the same unit.

    orders.o_custkey identifies (customer, c_custkey); orders.o_orderkey and lineitem.l_orderkey
    identify (orders, o_orderkey): rows that agree on either belong to the same customer.
    """
    match plan:
        case Scan(table=table, columns=columns):
            names = _identifying(table)
            return {c: names[c.name] for c in columns if c.name in names}
        case Project(source=source, outputs=outputs):
            below = identities(source)
            return {
                output.column: below[output.expression]
                for output in outputs
                if isinstance(output.expression, Column) and output.expression in below
            }
        case Join(sources=sources):
            return {c: i for source in sources for c, i in identities(source).items()}
        case Aggregate(source=source, keys=keys):
            below = identities(source)
            return {
                key.column: below[key.expression]
                for key in keys
                if isinstance(key.expression, Column) and key.expression in below
            }
        case (
            Filter(source=source)
            | Mark(source=source)
            | Window(source=source)
            | Sort(source=source)
            | Limit(source=source)
        ):
            return identities(source)
        case OuterJoin(kind=OuterKind.PUBLIC, right=right):
            return identities(right)
        case OuterJoin(left=left):
            # A column of the other side is NULL where it has no partner: then it tells nothing.
            return identities(left)
        case Union(sources=sources, outputs=outputs):
            arms = [_by_place(source) for source in sources]
            shared = [frozenset.intersection(*found) for found in zip(*arms, strict=True)]
            return {c: found for c, found in zip(outputs, shared, strict=True) if found}
        case SetOperation(left=left, outputs=outputs):
            return {c: f for c, f in zip(outputs, _by_place(left), strict=True) if f}
        case Release() | Values():
            return {}
        case missing:
            assert_never(missing)


def leading(table: Table) -> tuple[str, Identity] | None:
    """The column of `table` that its rows' units are looked up by, or are, and what it names."""
    match table.ownership:
        case EntityUnit(hops=(hop, *_)):
            return hop.column, (hop.table, hop.key)
        case EntityUnit(kind=kind, column=column):
            return column, (NO_TABLE, kind)
        case Public() | RowUnit():
            return None
        case missing:
            assert_never(missing)


def unit_columns(scan: Scan) -> frozenset[Column]:
    """The columns of `scan` that are its rows' unit; none where other tables tell it."""
    own = scan.table.ownership
    if not isinstance(own, EntityUnit) or own.hops:
        return frozenset()
    return frozenset(column for column in scan.columns if column.name == own.column)


def equating(
    on: Iterable[Expression], left: Scan, left_name: str, right: Scan, right_name: str
) -> list[Expression]:
    """The conditions that say that columns of two tables, of these names, are equal."""
    pairs = [
        {a, b}
        for a in left.columns
        if a.name == left_name
        for b in right.columns
        if b.name == right_name
    ]
    return [p for p in on for sides in equated([p]) if {*sides} in pairs]


def _by_place(plan: Plan) -> list[frozenset[Identity]]:
    found = identities(plan)
    return [found.get(column, frozenset()) for column in output_columns(plan)]


def _identifying(table: Table) -> dict[str, frozenset[Identity]]:
    """Columns of `table` that determine a row's unit, and what they identify.

    A declared key of one column determines its row, and with it the row's unit; the first column
    of the unit's path names a row of another private table, or the entity itself.
    """
    if isinstance(table.ownership, Public):
        return {}
    names: dict[str, set[Identity]] = {}
    led = leading(table)
    if led is not None:
        names[led[0]] = {led[1]}
    if table.key is not None and len(table.key) == 1:
        names.setdefault(table.key[0], set()).add((table.name, table.key[0]))
    return {name: frozenset(found) for name, found in names.items()}


def _scans(plan: Plan) -> list[Scan]:
    match plan:
        case Scan():
            return [plan]
        case Join(sources=sources) | Union(sources=sources):
            return [scan for source in sources for scan in _scans(source)]
        case OuterJoin(left=left, right=right) | SetOperation(left=left, right=right):
            return [*_scans(left), *_scans(right)]
        case Mark(source=source, relation=relation):
            return [*_scans(source), *_scans(relation)]
        case Release() | Values():
            return []
        case (
            Filter(source=source)
            | Project(source=source)
            | Aggregate(source=source)
            | Window(source=source)
            | Sort(source=source)
            | Limit(source=source)
        ):
            return _scans(source)
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
    """Some of `plan`'s rows are privacy units of their own, which no other row belongs to."""
    return any(isinstance(s.table.ownership, RowUnit) for s in private_scans(plan))


def private_scans(plan: Plan) -> list[Scan]:
    """The private tables that `plan` reads below any release, as they are scanned."""
    return [scan for scan in _scans(plan) if scan.unit is not None]
