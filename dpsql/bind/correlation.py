"""What the query around asks of an aggregated subquery's groups: each equality is one more key."""

from __future__ import annotations

from sqlglot import exp

from dpsql.bind.grouping import Grouping
from dpsql.bind.parse import span
from dpsql.errors import Refused
from dpsql.plan.expression import Column, Compare, Comparison, Expression
from dpsql.plan.tree import columns


def asked_by_key(
    grouping: Grouping, asked: list[Expression], outer: set[Column], node: exp.Expr
) -> Grouping:
    """What the query around asks of groups: one more key for each equality."""
    for condition in asked:
        inner = _inner_side(condition, outer)
        if inner is None or grouping.sets is not None:
            raise Refused(
                "an aggregated subquery is correlated by equalities only",
                at=span(node),
                hint="write WHERE inner_column = outer_column",
                note="subqueries",
            )
        grouping = grouping.with_key(inner)
    return grouping


def _inner_side(condition: Expression, outer: set[Column]) -> Expression | None:
    """The side of an equality that is the subquery's own, if the other is the outer query's."""
    if not isinstance(condition, Compare) or condition.op is not Comparison.EQUAL:
        return None
    for inner, asking in (
        (condition.left, condition.right),
        (condition.right, condition.left),
    ):
        if not columns(inner) & outer and columns(asking) <= outer:
            return inner
    return None
