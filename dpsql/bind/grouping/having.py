"""HAVING without what is true of every group that has a row."""

from __future__ import annotations

from dpsql.bind.aggregate.aggregates import Aggregates
from dpsql.bind.grouping.group_by import Grouping
from dpsql.plan.aggregate import AggregateFunction
from dpsql.plan.expression import (
    Column,
    Compare,
    Comparison,
    Expression,
    Literal,
    conjunction,
    conjuncts,
)


def without_tautologies(
    condition: Expression, grouping: Grouping, aggregates: Aggregates, shown: frozenset[Column]
) -> Expression | None:
    """HAVING without what is true of every group that has a row, and of no count that is `shown`.

    `count(*) > 0`, as BI tools add it, would cost a count and drop groups at random. Where the
    statement shows the count, its reader would meet groups of 0 and below.
    """
    if all(isinstance(key, Literal) for key in grouping.keys):
        return condition
    counts = frozenset(
        a.column
        for a in aggregates.outputs
        if a.column not in shown
        and a.call.function is AggregateFunction.COUNT
        and not a.call.arguments
        and a.call.filter is None
    )
    kept = tuple(p for p in conjuncts(condition) if not _is_tautology(p, counts))
    return conjunction(kept) if kept else None


def _is_tautology(condition: Expression, counts: frozenset[Column]) -> bool:
    match condition:
        case Compare(op=op, left=Column() as left, right=Literal(value=value)):
            always = {
                (Comparison.GREATER, 0),
                (Comparison.GREATER_EQUAL, 1),
                (Comparison.UNEQUAL, 0),
            }
            return left in counts and (op, value) in always
        case _:
            return False
