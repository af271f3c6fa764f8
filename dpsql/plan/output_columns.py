"""The columns of an operator's rows, in order; the unit of private rows isn't among them."""

from __future__ import annotations

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


def output_columns(plan: Plan) -> tuple[Column, ...]:
    """The columns of `plan`'s rows that operators above can read, in order."""
    match plan:
        case Scan(columns=columns):
            return columns
        case Project(outputs=outputs):
            return tuple(output.column for output in outputs)
        case Join(sources=sources):
            return tuple(column for source in sources for column in output_columns(source))
        case Aggregate(keys=keys, aggregates=aggregates):
            return (*(key.column for key in keys), *(a.column for a in aggregates))
        case Release(keys=keys, aggregates=aggregates, chosen=chosen):
            grouped = (*(key.column for key in keys), *(a.column for a in aggregates))
            return (*grouped, *(output.column for output in chosen))
        case OuterJoin(left=left, right=right):
            return (*output_columns(left), *output_columns(right))
        case MarkJoin(source=source, column=column):
            return (*output_columns(source), column)
        case Window(source=source, outputs=windows):
            return (*output_columns(source), *(output.column for output in windows))
        case Union(outputs=columns) | SetOperation(outputs=columns):
            return columns
        case Values(outputs=columns) | PublicStatement(outputs=columns):
            return columns
        case Filter(source=source) | Sort(source=source) | Limit(source=source):
            return output_columns(source)
        case missing:
            assert_never(missing)
