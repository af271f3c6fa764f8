"""The negation of a condition, pushed down to its comparisons."""

from __future__ import annotations

from dpsql.plan.expression import And, Compare, Comparison, Expression, Not, Or

OPPOSITE = {
    Comparison.EQUAL: Comparison.UNEQUAL,
    Comparison.LESS: Comparison.GREATER_EQUAL,
    Comparison.LESS_EQUAL: Comparison.GREATER,
    Comparison.DISTINCT: Comparison.NOT_DISTINCT,
}
OPPOSITE |= {right: left for left, right in OPPOSITE.items()}
"""The comparison that is true where the key is false, and NULL where the key is NULL."""


def negated(condition: Expression) -> Expression:
    """A condition that is true exactly where `condition` is false, and NULL where that is NULL."""
    match condition:
        case Not(operand=operand):
            return operand
        case And(operands=operands):
            return Or(tuple(map(negated, operands)))
        case Or(operands=operands):
            return And(tuple(map(negated, operands)))
        case Compare(op=op, left=left, right=right):
            return Compare(OPPOSITE[op], left, right)
        case _:
            return Not(condition)
