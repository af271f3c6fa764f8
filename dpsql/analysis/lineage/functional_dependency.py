"""Functional dependencies: which columns the unit determines, and whether it has one row at most.

Both rest on declared keys, and `trusted` says which ones may be relied on. All of them may when the
question is how tight a limit can be without losing rows of clean data (the limit is then enforced);
only verified ones when the question is whether a limit holds already.

A key is a fact about a table's rows. A scan of private rows over hops joins other tables to find
their units: 40 sales of one key make 40 rows of the one line that names them. The key of the
scanned table is a key of the scan's rows only if the keys that the hops lead to are trusted as
well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from dpsql.analysis.lineage.lineage import Visibility, visibility
from dpsql.analysis.lineage.row_number import chosen_rows
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
"""Whether the declared key of a table, or of the table that a hop leads to, may be relied on."""


def declared(_: Table | Hop) -> bool:
    """Trusts every declared key: for choosing limits that are then enforced."""
    return True


def unit_determined_columns(plan: Plan, trusted: Trusted) -> frozenset[Column]:
    """The columns of `plan` that have one value in all rows of a unit."""
    match plan:
        case Scan(columns=scanned) if _one_row_scan(plan, trusted):
            return frozenset(scanned)
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
    """`expression` reads columns in `known` only, so that these determine its value."""
    return columns(expression) <= known


def one_row_per_unit(plan: Plan, trusted: Trusted) -> bool:
    """Every unit has at most one row in `plan`.

    Filters and projections keep this property. So do joins in which each further source has at most
    one partner: its key is fixed by what is joined already, or it is private and has one row per
    unit itself.
    """
    match plan:
        case Scan():
            return _one_row_scan(plan, trusted)
        case Filter(source=source):
            return one_row_per_unit(source, trusted) or _has_chosen_row(plan, trusted)
        case Project(source=source) | MarkJoin(source=source) | Window(source=source):
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


def _has_chosen_row(plan: Filter, trusted: Trusted) -> bool:
    """A unit's rows lie in one partition, of which a row_number() that is fixed leaves one."""
    return any(
        all(is_determined(key, unit_determined_columns(numbered, trusted)) for key in partition)
        for numbered, partition in chosen_rows(plan)
    )


def _one_partner(left: Plan, right: Plan, on: tuple[Expression, ...], trusted: Trusted) -> bool:
    """Each row of `left` joins at most one row of `right`: its unit's only row, or a key's."""
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
    """A row with columns `joined` joins at most one combination of rows of `waiting` sources."""
    while waiting:
        attached = [s for s in waiting if is_key_fixed(s, on, joined, trusted)]
        if not attached:
            return False
        joined |= frozenset(c for s in attached for c in output_columns(s))
        waiting = [s for s in waiting if not any(s is a for a in attached)]
    return True


def functions_of(known: frozenset[Column], plan: Plan, trusted: Trusted) -> frozenset[Column]:
    """The columns of a public `plan` that have one value in all rows that agree on `known`."""
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
    """All columns of a join that `known` determines by equalities and keys of public sources."""
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
    """Under the conditions `on`, the `joined` columns determine at most one row of `source`."""
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
    """Columns on which no two rows of `plan` agree; an empty set if it has at most one row.

    In a private plan no two rows of one unit agree on them, which is enough: its joins equate
    units. None: no key is known.
    """
    match plan:
        case Scan(table=table, columns=scanned):
            if table.key is None or not trusted(table) or not _reads_rows_once(plan, trusted):
                return None
            key = frozenset(c for c in scanned if c.name in table.key)
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
    """Each row of the table comes once: no units are joined, or each hop leads to one at most."""
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
    for index, column in enumerate(columns):
        if len({row[index] for row in rows}) == len(rows):
            return frozenset((column,))
    return frozenset(columns) if len(set(rows)) == len(rows) else None
