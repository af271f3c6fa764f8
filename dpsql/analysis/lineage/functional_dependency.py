"""Functional dependencies: which columns the unit determines, and is there one row per unit.

Both rest on declared keys. `trusted` says which tables' keys may be relied on: all of them when
the question is how tight a limit may be without losing rows of clean data (the limit is then
enforced), only the verified ones when the question is whether a limit holds already.

A key is a fact about a table's rows. A scan of private rows over hops joins other tables to find
their units: 40 sales of one key make 40 rows of the one line that names it. Its table's key is one
of the scan, too, only if those that the hops lead to are trusted as well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from dpsql.analysis.lineage.lineage import Visibility, visibility
from dpsql.analysis.lineage.unit_identity import unit_columns
from dpsql.plan.expression import Column, Expression, Literal, Scalar, conjuncts, matched
from dpsql.plan.operator import (
    Aggregate,
    Filter,
    Join,
    Limit,
    MarkJoin,
    OuterJoin,
    OuterKind,
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
from dpsql.plan.output_columns import output_columns
from dpsql.plan.traversal import columns
from dpsql.schema.model import EntityUnit, Hop, Public, RowUnit, Table

Trusted = Callable[[Table | Hop], bool]
"""Whether the declared key of a table may be relied on, or of the table that a hop leads to."""


def declared(_: Table | Hop) -> bool:
    """Every declared key: for choosing limits that are then enforced."""
    return True


def unit_determined_columns(plan: Plan, trusted: Trusted) -> frozenset[Column]:
    """The columns that have one value in all rows of a unit."""
    match plan:
        case Scan(columns=found) if _one_row_scan(plan, trusted):
            return frozenset(found)
        case Scan():
            # The entity's own identity; over hops it isn't a column of this table.
            return unit_columns(plan)
        case (
            Filter(source=source)
            | MarkJoin(source=source)
            | Window(source=source)
            | Sort(source=source)
            | Limit(source=source)
        ):
            return unit_determined_columns(source, trusted)
        case OuterJoin(kind=OuterKind.LEFT, left=left):
            return unit_determined_columns(left, trusted)
        case OuterJoin() | Union() | SetOperation():
            return frozenset()  # a unit's rows of different arms have values of their own
        case Project(source=source, outputs=outputs):
            below = unit_determined_columns(source, trusted)
            return frozenset(o.column for o in outputs if is_determined(o.expression, below))
        case Join(sources=sources, on=on):
            known = frozenset(
                c for source in sources for c in unit_determined_columns(source, trusted)
            )
            return _join_closure(sources, on, known, trusted)
        case Aggregate(source=source, keys=keys):
            below = unit_determined_columns(source, trusted)
            return frozenset(k.column for k in keys if is_determined(k.expression, below))
        case Release() | Values() | PublicStatement():
            return frozenset()
        case missing:
            assert_never(missing)


def is_determined(expression: Expression, known: frozenset[Column]) -> bool:
    """A function of determined columns is determined; every expression is a function of its row."""
    return columns(expression) <= known


def one_row_per_unit(plan: Plan, trusted: Trusted) -> bool:
    """Every unit has at most one row.

    Survives filter, project, and joins in which each further source has at most one partner: its
    key is fixed by what is joined already, or it is private and has one row per unit itself.
    """
    match plan:
        case Scan():
            return _one_row_scan(plan, trusted)
        case Filter(source=source) | Project(source=source) | MarkJoin(source=source):
            return one_row_per_unit(source, trusted)
        case Window(source=source):
            return one_row_per_unit(source, trusted)
        case OuterJoin(kind=OuterKind.LEFT, left=left, right=right, on=on):
            return one_row_per_unit(left, trusted) and _one_partner(left, right, on, trusted)
        case SetOperation(left=left):
            return one_row_per_unit(left, trusted)
        case Join(sources=sources, on=on):
            return _one_row_join(sources, on, trusted)
        case Aggregate(source=source, keys=keys):
            # One group per unit: every key has one value in all of the unit's rows.
            below = unit_determined_columns(source, trusted)
            return all(is_determined(key.expression, below) for key in keys)
        case OuterJoin() | Union() | Sort() | Limit() | Release() | Values() | PublicStatement():
            return False
        case missing:
            assert_never(missing)


def _one_partner(left: Plan, right: Plan, on: tuple[Expression, ...], trusted: Trusted) -> bool:
    """Each row of `left` has at most one partner: its unit's only row, or the one of a key."""
    if visibility(right) is Visibility.PRIVATE:
        return one_row_per_unit(right, trusted)
    return is_key_fixed(right, on, frozenset(output_columns(left)), trusted)


def _one_row_scan(scan: Scan, trusted: Trusted) -> bool:
    match scan.table.ownership:
        case Public():
            return False
        case RowUnit():
            return True
        case EntityUnit(hops=hops, column=column):
            return not hops and scan.table.key == (column,) and trusted(scan.table)
        case missing:
            assert_never(missing)


def _one_row_join(sources: tuple[Plan, ...], on: tuple[Expression, ...], trusted: Trusted) -> bool:
    single = [
        s for s in sources if visibility(s) is Visibility.PRIVATE and one_row_per_unit(s, trusted)
    ]
    if len(single) < sum(1 for s in sources if visibility(s) is Visibility.PRIVATE) or not single:
        return False
    # All private sources have one row per unit and agree on it, so together they have one.
    joined = frozenset(c for s in single for c in output_columns(s))
    waiting = [s for s in sources if visibility(s) is not Visibility.PRIVATE]
    return is_n_to_one(joined, waiting, on, trusted)


def is_n_to_one(
    joined: frozenset[Column], waiting: list[Plan], on: tuple[Expression, ...], trusted: Trusted
) -> bool:
    """A row with the columns `joined` meets at most one row of all of `waiting` together."""
    while waiting:
        attached = [s for s in waiting if is_key_fixed(s, on, joined, trusted)]
        if not attached:
            return False
        joined |= frozenset(c for s in attached for c in output_columns(s))
        waiting = [s for s in waiting if not any(s is a for a in attached)]
    return True


def functions_of(known: frozenset[Column], plan: Plan, trusted: Trusted) -> frozenset[Column]:
    """The columns that have one value in all rows of a public `plan` that agree on `known`."""
    match plan:
        case Filter(source=Join(sources=sources, on=on), predicate=predicate):
            on = (*on, *conjuncts(predicate))
        case Join(sources=sources, on=on):
            pass
        case _:
            key = unique_key(plan, trusted)
            return known if key is None or not key <= known else known | {*output_columns(plan)}
    while True:
        more = known.union(*(functions_of(known, source, trusted) for source in sources))
        more = _join_closure(sources, on, more, trusted)
        if more == known:
            return known
        known = more


def _join_closure(
    sources: tuple[Plan, ...],
    on: tuple[Expression, ...],
    known: frozenset[Column],
    trusted: Trusted,
) -> frozenset[Column]:
    """Close `known` under equalities and public keys."""
    while True:
        more = set(known)
        for left, right in matched(on):
            if isinstance(left, Column) and is_determined(right, known):
                more.add(left)
            if isinstance(right, Column) and is_determined(left, known):
                more.add(right)
        for source in sources:
            if visibility(source) is not Visibility.PRIVATE and is_key_fixed(
                source, on, frozenset(more), trusted
            ):
                more.update(output_columns(source))
        if more == known:
            return known
        known = frozenset(more)


def is_key_fixed(
    source: Plan, on: tuple[Expression, ...], joined: frozenset[Column], trusted: Trusted
) -> bool:
    """At most one row of `source` fits one combination of `joined` columns."""
    key = unique_key(source, trusted)
    if key is None:
        return False
    fixed = {
        column
        for left, right in matched(on)
        for column, other in ((left, right), (right, left))
        if isinstance(column, Column) and column in key
        if columns(other) <= joined and (columns(other) or isinstance(other, Literal))
    }
    return fixed >= key


def unique_key(plan: Plan, trusted: Trusted) -> frozenset[Column] | None:
    """Columns that no two rows of a relation agree on; none at all: it has one row.

    Of a private one: no two rows of one unit. Where it is joined, units are equated.
    """
    match plan:
        case Scan(table=table, columns=found):
            if table.key is None or not trusted(table) or not _reads_rows_once(plan, trusted):
                return None
            key = frozenset(c for c in found if c.name in table.key)
            return key if len(key) == len(table.key) else None
        case Limit(count=0 | 1):
            return frozenset()
        case Filter(source=source) | Sort(source=source) | Limit(source=source):
            return unique_key(source, trusted)
        case MarkJoin(source=source) | Window(source=source):
            return unique_key(source, trusted)
        case Project(source=source, outputs=outputs):
            below = unique_key(source, trusted)
            if below is None:
                return None
            named = {o.expression: o.column for o in outputs}
            return frozenset(named[c] for c in below) if below <= named.keys() else None
        case Aggregate(keys=keys) | Release(keys=keys):
            return frozenset(key.column for key in keys)
        case Values(outputs=columns, rows=rows):
            return _key_of(columns, rows)
        case Join() | OuterJoin() | Union() | SetOperation() | PublicStatement():
            return None
        case missing:
            assert_never(missing)


def _reads_rows_once(scan: Scan, trusted: Trusted) -> bool:
    """No row of the table comes twice: it is read alone, or each hop leads to one row at most."""
    if scan.unit is None:
        return True
    match scan.table.ownership:
        case Public() | RowUnit():
            return True
        case EntityUnit(hops=hops):
            return all(map(trusted, hops))
        case missing:
            assert_never(missing)


def _key_of(
    columns: tuple[Column, ...], rows: tuple[tuple[Scalar, ...], ...]
) -> frozenset[Column] | None:
    """The first column whose values differ in all rows, or all columns if the rows do.

    VALUES ('F', 1), ('F', 2): joined on the first column alone, each patient meets both.
    """
    if len(rows) == 1:
        return frozenset()
    for place, column in enumerate(columns):
        if len({row[place] for row in rows}) == len(rows):
            return frozenset((column,))
    return frozenset(columns) if len(set(rows)) == len(rows) else None
