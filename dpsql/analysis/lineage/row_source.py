"""The row source of a relation: the one table each row of which becomes at most one of its rows.

A unit then has no more rows in the relation, or in any group of it, than in that table. And the
relation over a part of the table's rows is a part of the relation, so that it can be computed part
by part: every other table is read whole each time, and nothing compares two of the table's rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from msgspec import Struct

from dpsql.analysis.lineage.functional_dependency import Trusted, is_n_to_one, unique_key
from dpsql.analysis.lineage.lineage import Visibility, visibility
from dpsql.plan.expression import Column, Expression
from dpsql.plan.operator import (
    Aggregate,
    Filter,
    Join,
    Limit,
    MarkJoin,
    OuterJoin,
    OuterKind,
    Output,
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
from dpsql.plan.traversal import operators, replace_sources
from dpsql.structs import replace


class RowSource(Struct, frozen=True):
    """The table that a relation's rows come from, each from another row.

    `scan` reads the table. `columns` maps columns of the relation to those of `scan` that they
    equal. `is_complete`: each row of the table has a row in the relation.
    """

    scan: Scan
    columns: Mapping[Column, Column]
    is_complete: bool


def row_source(plan: Plan, trusted: Trusted) -> RowSource | None:
    """The row source of `plan`, proved by keys of `trusted` tables; None if none is proved."""
    match plan:
        case Scan(unit=None) | Values() | PublicStatement() | Release():
            return None
        case Scan(columns=scanned):
            return RowSource(plan, {c: c for c in scanned}, is_complete=True)
        case Filter(source=source):
            below = row_source(source, trusted)
            return None if below is None else replace(below, is_complete=False)
        case Project(source=source, outputs=outputs):
            below = row_source(source, trusted)
            if below is None:
                return None
            passed_on = {
                o.column: below.columns[o.expression]
                for o in outputs
                if isinstance(o.expression, Column) and o.expression in below.columns
            }
            return replace(below, columns=passed_on)
        case Join(sources=sources, on=on):
            return _joined(sources, on, trusted)
        case Window():
            # row_number() over a part of a unit's rows counts anew from 1.
            return None
        case Aggregate() | Union() | SetOperation() | Sort() | Limit():
            return None
        case MarkJoin(source=source, relation=relation):
            below = row_source(source, trusted)
            # What is asked is a table of its own: a part of it would give other answers.
            if below is None or below.scan in operators(relation):
                return None
            return replace(below, is_complete=False)
        case OuterJoin(kind=OuterKind.LEFT, left=left, right=right) if _is_one_row(right, trusted):
            below = row_source(left, trusted)
            return None if below is None else replace(below, is_complete=False)
        case OuterJoin():
            # Part by part it could be, but what is looked up would be so each time.
            return None
        case missing:
            assert_never(missing)


def _is_one_row(plan: Plan, trusted: Trusted) -> bool:
    """`plan` has one row at most, and none of any unit: it is as fast looked up twice as once."""
    is_private = visibility(plan) is Visibility.PRIVATE
    return not is_private and unique_key(plan, trusted) == frozenset()


def replace_source(
    plan: Plan, rows: RowSource, replacement: Plan, added: tuple[Column, ...]
) -> Plan:
    """`plan` over `replacement` instead of its row source `rows`, with `added` columns kept."""
    if plan == rows.scan:
        return replacement
    if not any(operator == rows.scan for operator in operators(plan)):
        return plan
    changed = replace_sources(lambda below: replace_source(below, rows, replacement, added), plan)
    if isinstance(changed, Project):
        more = tuple(Output(column, column) for column in added)
        return replace(changed, outputs=(*changed.outputs, *more))
    return changed


def _joined(
    sources: tuple[Plan, ...], on: tuple[Expression, ...], trusted: Trusted
) -> RowSource | None:
    """The row source of a join: that of a source whose rows join at most one of the others."""
    for source in sources:
        rows = row_source(source, trusted)
        others = [other for other in sources if other is not source]
        joined = frozenset(output_columns(source))
        if rows is not None and is_n_to_one(joined, others, on, trusted):
            return replace(rows, is_complete=False)
    return None
