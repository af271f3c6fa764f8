"""How large an expression is once it is written out.

BETWEEN and COALESCE read an operand twice, and a CASE its subject in every branch: a nest of them
is a small tree of shared parts, and a text without end.
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.bind.parse import span
from dpsql.errors import TooComplex
from dpsql.plan.expression import Expression
from dpsql.plan.tree import operands

MOST_PARTS = 20_000
"""Of one expression, each counted as often as it is written."""


class Sizes:
    """The sizes of expressions, each measured once."""

    def __init__(self) -> None:
        # An object is told by its identity for as long as it is kept.
        self._measured: dict[int, tuple[Expression, int]] = {}

    def checked(self, expression: Expression, node: exp.Expr) -> Expression:
        """`expression`, refused if it is too large."""
        if self._of(expression) > MOST_PARTS:
            raise TooComplex(
                "the expression grows too large",
                at=span(node),
                hint="nest fewer BETWEEN, COALESCE, NULLIF and CASE",
            )
        return expression

    def _of(self, expression: Expression) -> int:
        found = self._measured.get(id(expression))
        if found is None:
            size = 1 + sum(map(self._of, operands(expression)))
            found = self._measured[id(expression)] = (expression, size)
        return found[1]
