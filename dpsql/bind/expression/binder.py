"""What the rules for constructs need of the binder of expressions, which they are parts of."""

from __future__ import annotations

from typing import Protocol

from sqlglot import exp

from dpsql.plan.expression import Comparison, Expression


class Binder(Protocol):
    """What binds the operands of an expression: `ExpressionBinder`."""

    def bind(self, node: exp.Expr) -> Expression:
        """The typed expression that `node` is."""

    def condition(self, node: exp.Expr) -> Expression:
        """The boolean expression that `node` is; TypeFault for other types."""

    def compare(self, op: Comparison, left: exp.Expr, right: exp.Expr) -> Expression:
        """`left op right`, both converted to one type."""

    def unified(self, nodes: list[exp.Expr]) -> list[Expression]:
        """The expressions, converted to their common type."""
