"""Conditions that a statement's own text decides, before anything is read."""

from __future__ import annotations

from dpsql.plan.expression import And, Compare, Comparison, Expression, Literal


def is_false(predicate: Expression) -> bool:
    """Tell that no row satisfies `predicate`, whatever the data: WHERE FALSE, WHERE 1 = 0."""
    match predicate:
        case Literal(value=value):
            return not value
        case And(operands=operands):
            return any(map(is_false, operands))
        case Compare(op=Comparison.EQUAL, left=Literal(value=a), right=Literal(value=b)):
            return a is None or b is None or a != b
        case Compare(op=Comparison.UNEQUAL, left=Literal(value=a), right=Literal(value=b)):
            return a is None or b is None or a == b
        case _:
            return False
