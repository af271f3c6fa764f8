"""The negation of a condition, pushed down to its comparisons."""

from __future__ import annotations

from dpsql.plan.expression import And, Compare, Comparison, Expression, Not, Or

_OPPOSITE = {
    Comparison.EQUAL: Comparison.UNEQUAL,
    Comparison.LESS: Comparison.GREATER_EQUAL,
    Comparison.LESS_EQUAL: Comparison.GREATER,
    Comparison.DISTINCT: Comparison.NOT_DISTINCT,
}
_OPPOSITE |= {right: left for left, right in _OPPOSITE.items()}


def negated(condition: Expression) -> Expression:
    """A condition that is true just where `condition` is false: never where it is true."""
    match condition:
        case Not(operand=operand):
            return operand
        case And(operands=operands):
            return Or(tuple(map(negated, operands)))
        case Or(operands=operands):
            return And(tuple(map(negated, operands)))
        case Compare(op=op, left=left, right=right):
            return Compare(_OPPOSITE[op], left, right)
        case _:
            return Not(condition)
