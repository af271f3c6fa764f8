"""IN, ANY and ALL of a subquery: whether some row makes a comparison true, and whether it may.

| written              | asked                                    |
| -------------------- | ---------------------------------------- |
| x IN q, x = ANY q    | does some row of q equal x               |
| x > ANY q            | is some row less than x                  |
| x > ALL q            | is no row at least x                     |
| x NOT IN q, x <> ALL q | does no row equal x                    |
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from msgspec import Struct
from sqlglot import exp

from dpsql.bind.expression.expression import COMPARISONS
from dpsql.bind.expression.row_value import disjunction, row_parts
from dpsql.bind.syntax.allowlist import require_args
from dpsql.bind.syntax.parse import span
from dpsql.errors import Refused, SyntaxFault
from dpsql.plan.comparison import OPPOSITE
from dpsql.plan.expression import (
    Case,
    Compare,
    Comparison,
    Expression,
    IsNull,
    Literal,
    Not,
    Or,
    When,
    conjunction,
)
from dpsql.schema.sql_type import Boolean

_UNKNOWN_OF_NULL = frozenset(OPPOSITE) - {Comparison.DISTINCT, Comparison.NOT_DISTINCT}


class Quantifier(Struct, frozen=True):
    """Whether `operands op row` is true of some row of `query`, or, if `negated`, of none."""

    operands: tuple[exp.Expr, ...]
    op: Comparison
    query: exp.Expr
    negated: bool

    @classmethod
    def of(cls, node: exp.Expr) -> Self | None:
        """The quantifier that `node` is, or that it negates; None if it is something else."""
        if isinstance(node, exp.Not):
            inner = cls.of(node.this.unnest())
            # The parser's NOT x NOT IN q is two of them.
            if inner is None or isinstance(node.this.unnest(), exp.Not):
                return None
            return cls(inner.operands, inner.op, inner.query, not inner.negated)
        if isinstance(node, exp.In):
            query = _query(node)
            if query is None:
                return None
            return cls(_operands(node, Comparison.EQUAL), Comparison.EQUAL, query, negated=False)
        op, quantified = COMPARISONS.get(type(node)), node.args.get("expression")
        if op not in _UNKNOWN_OF_NULL or not isinstance(quantified, exp.Any | exp.All):
            return None
        if not isinstance(quantified.this.unnest(), exp.Query):
            return None
        require_args(node, "this", "expression")
        require_args(quantified, "this")
        is_all = isinstance(quantified, exp.All)
        op = OPPOSITE[op] if is_all else op
        return cls(_operands(node, op), op, quantified.this, negated=is_all)

    def holds(self, pairs: Sequence[tuple[Expression, Expression]]) -> Expression:
        """Whether one row satisfies the comparison, UNKNOWN where a NULL decides.

        `pairs` are the operands, each with the row's column.
        """
        parts = tuple(Compare(self.op, a, b) for a, b in pairs)
        return disjunction(parts) if self._differs else conjunction(parts)

    def may_hold(self, pairs: Sequence[tuple[Expression, Expression]]) -> Expression:
        """Whether one row satisfies the comparison, or that is unknown."""
        parts = tuple(Or((Compare(self.op, a, b), IsNull(a), IsNull(b))) for a, b in pairs)
        return disjunction(parts) if self._differs else conjunction(parts)

    def unknown(self, pairs: Sequence[tuple[Expression, Expression]]) -> Expression:
        """Whether the comparison is UNKNOWN of a row that doesn't satisfy it."""
        if len(pairs) > 1:
            return self.may_hold(pairs)
        ((a, b),) = pairs
        return Or((IsNull(a), IsNull(b)))

    @property
    def _differs(self) -> bool:
        """Whether rows are compared for being unequal: they are if one of their parts is."""
        return self.op is Comparison.UNEQUAL


def _query(node: exp.In) -> exp.Expr | None:
    query: exp.Expr | None = node.args.get("query")
    listed = node.expressions
    if query is None and len(listed) == 1 and isinstance(listed[0], exp.Values):
        query = exp.select("*").from_(listed[0])
    elif query is not None:
        require_args(node, "this", "query")
    return query


def _operands(node: exp.Expr, op: Comparison) -> tuple[exp.Expr, ...]:
    parts = row_parts(node.this)
    if parts is None:
        return (node.this,)
    if op not in (Comparison.EQUAL, Comparison.UNEQUAL):
        raise Refused(
            "rows of a subquery are compared by = and <> only",
            at=span(node),
            hint="compare the parts in EXISTS: EXISTS (SELECT 1 FROM … WHERE (x, y) < (a, b))",
            note="row_values",
        )
    return tuple(parts)


def column_counts(node: exp.Expr, operands: int, listed: int) -> SyntaxFault:
    """The refusal to compare rows of different lengths."""
    return SyntaxFault(
        f"{_columns(operands)} compared with a subquery of {_columns(listed)}",
        at=span(node),
        hint="select as many columns: (a, b) IN (SELECT x, y FROM …)",
        note="row_values",
    )


def _columns(number: int) -> str:
    return "one column" if number == 1 else f"{number} columns"


def three_valued(true: Expression, unknown: Expression) -> Case:
    """TRUE where `true` holds, else NULL where `unknown` holds, else FALSE."""
    yes, no, null = (Literal(value, Boolean()) for value in (True, False, None))
    return Case((When(true, yes), When(unknown, null)), no, Boolean())


def neither(condition: Expression) -> Expression:
    """NOT `condition`; of a disjunction, a conjunction, whose parts are filters of their own."""
    if isinstance(condition, Or):
        return conjunction(tuple(Not(operand) for operand in condition.operands))
    return Not(condition)
