"""Equalities that correlate a subquery with its outer query."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from sqlglot import exp

from dpsql.bind.syntax.parse import span
from dpsql.errors import Refused
from dpsql.plan.expression import Column, Compare, Comparison, Expression
from dpsql.plan.traversal import columns


def inner_side(condition: Expression, outer: AbstractSet[Column]) -> Expression | None:
    """The subquery's side of an equality with `outer` columns; None for other conditions."""
    if not isinstance(condition, Compare) or condition.op is not Comparison.EQUAL:
        return None
    for inner, other in (
        (condition.left, condition.right),
        (condition.right, condition.left),
    ):
        if not columns(inner) & outer and columns(other) <= outer:
            return inner
    return None


def by_more_than_equalities(what: str, node: exp.Expr) -> Refused:
    """The refusal of `what` in a subquery that is correlated by more than equalities.

    Rows that an outer row meets by equalities share the equated values, which tell for which outer
    rows they are. By an inequality, outer rows meet sets of rows that overlap.
    """
    return Refused(
        f"{what} in a subquery that is correlated by more than equalities of columns",
        at=span(node),
        hint="compute it in FROM, for all rows, and ask for them there; or compare with a constant",
        note="subqueries",
    )
