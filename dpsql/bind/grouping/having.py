"""HAVING without the conditions that every group with a row satisfies."""

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
    """`condition` without conjuncts such as `count(*) > 0`; None if no conjunct is left.

    Every group with a row satisfies it. As BI tools add it, it would cost a count and drop groups
    at random. It stays where the count is among the columns that are `shown`: otherwise the answer
    would show groups of 0 and below.
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
    conditions = tuple(p for p in conjuncts(condition) if not _is_tautology(p, counts))
    return conjunction(conditions) if conditions else None


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
