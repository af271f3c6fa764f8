"""Conditions on row_number(), which leave one row of each partition at most.

SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY o) AS n FROM t) WHERE n = 1
"""

from __future__ import annotations

from collections.abc import Iterator

from dpsql.plan.expression import Column, Compare, Comparison, Expression, Literal, conjuncts
from dpsql.plan.operator import Filter, MarkJoin, Plan, Project, Window

Partition = tuple[Plan, tuple[Expression, ...]]
"""The rows that are numbered, and what they are partitioned by."""


def chosen_rows(plan: Filter) -> Iterator[Partition]:
    """The partitions of which `plan` has one row each at most: that of one number.

    rank() = 1 holds of two rows that tie, and row_number() <= 2 of two.
    """
    for condition in conjuncts(plan.predicate):
        number = _fixed(condition)
        partition = None if number is None else _numbered(plan.source, number)
        if partition is not None:
            yield partition


def _fixed(condition: Expression) -> Column | None:
    """The column that `condition` holds of for one number from 1 on, at most."""
    match condition:
        case Compare(op=Comparison.EQUAL, left=Column() as number, right=Literal()):
            return number
        case Compare(op=Comparison.EQUAL, left=Literal(), right=Column() as number):
            return number
        case Compare(op=Comparison.LESS_EQUAL, left=Column() as number, right=Literal(value=1)):
            return number  # so is LIMIT 1 in a correlated subquery
        case _:
            return None


def _numbered(plan: Plan, number: Column) -> Partition | None:
    """The partitions whose rows `number` counts, all below `plan`; None if it counts none."""
    match plan:
        case Window(source=source, outputs=outputs):
            calls = {output.column: output.call for output in outputs}
            if number not in calls:
                return _numbered(source, number)
            call = calls[number]
            return (source, call.partition) if call.function == "row_number" else None
        case Project(source=source, outputs=outputs):
            below = {output.column: output.expression for output in outputs}.get(number)
            return _numbered(source, below) if isinstance(below, Column) else None
        case Filter(source=source) | MarkJoin(source=source):
            return _numbered(source, number)
        case _:
            return None  # a join may repeat a row with its number
