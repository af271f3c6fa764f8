"""Equalities by which a row of the query around asks for rows of a subquery."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from sqlglot import exp

from dpsql.bind.syntax.parse import span
from dpsql.errors import Refused
from dpsql.plan.expression import Column, Compare, Comparison, Expression
from dpsql.plan.traversal import columns


def inner_side(condition: Expression, outer: AbstractSet[Column]) -> Expression | None:
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


def by_more_than_equalities(what: str, node: exp.Expr) -> Refused:
    """The refusal of `what`, which is computed of the rows that are asked for.

    Rows that are asked for by equalities share the values that are equal, which tell whom they are
    for. By an inequality each row around asks for others of the same rows.
    """
    return Refused(
        f"{what} in a subquery that is correlated by more than equalities of columns",
        at=span(node),
        hint="compute it in FROM, for all rows, and ask for them there; or compare with a constant",
        note="subqueries",
    )
