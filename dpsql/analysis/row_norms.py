"""Norms of a plan's rows: which of its columns a table's norm bounds together."""

from __future__ import annotations

from collections.abc import Mapping
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
from dpsql.schema.row_norm import RowNorm

NormOfColumn = Mapping[int, tuple[Scan, RowNorm]]
"""By a column's id, the norm that its table declares of it, and the scan whose column it is."""


def declared_norms(plan: Plan) -> NormOfColumn:
    """The norm of each column of `plan` that is the very column of a table with one."""
    match plan:
        case Scan(table=table, columns=columns):
            norm = table.norm
            if norm is None:
                return {}
            return {c.id: (plan, norm) for c in columns if c.name in norm.columns}
        case Project(source=source, outputs=outputs):
            below = declared_norms(source)
            return {
                o.column.id: below[o.expression.id]
                for o in outputs
                if isinstance(o.expression, Column)
                and o.expression.id in below
                and o.declared is None  # the bounds that a view's owner declares stand for it
            }
        case Join(sources=sources):
            return {i: norm for source in sources for i, norm in declared_norms(source).items()}
        case OuterJoin(left=left, right=right):
            return {**declared_norms(left), **declared_norms(right)}
        case (
            Filter(source=source)
            | MarkJoin(source=source)
            | Window(source=source)
            | Sort(source=source)
            | Limit(source=source)
        ):
            return declared_norms(source)
        case (
            Union() | SetOperation() | Aggregate() | Release() | Values() | PublicStatement()
        ):  # values of several columns, or of several rows
            return {}
        case missing:
            assert_never(missing)
