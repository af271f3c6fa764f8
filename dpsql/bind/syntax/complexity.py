"""How large an expression or a plan is once it is written out.

BETWEEN and COALESCE read an operand twice, a CASE its subject in every branch, and a CTE can name
another twice: a nest of them is a small tree of shared parts, and a text without end.
"""

from __future__ import annotations

from msgspec import Struct
from sqlglot import exp

from dpsql.bind.syntax.parse import span
from dpsql.errors import TooComplex
from dpsql.plan.expression import Expression
from dpsql.plan.operator import Filter, Join, Plan, Project
from dpsql.plan.traversal import operands, operators, sources

MAX_PARTS = 20_000
"""An expression's parts at most, each counted as often as it would be written out."""


MAX_REPEATED = 5_000
"""The operators of a statement's CTEs at most, each counted as often as its CTE is named."""


class RepeatedSize(Struct):
    """The operators of a statement's CTEs so far, each as often as its CTE is named."""

    count: int = 0

    def add(self, plan: Plan, node: exp.Expr) -> None:
        """Count the operators of a CTE's `plan`, which `node` names once more."""
        # CTEs below `plan` were counted when it was bound, so that the walk has an end.
        self.count += sum(1 for _ in operators(plan))
        if self.count > MAX_REPEATED:
            raise TooComplex(
                "CTEs name each other too often",
                at=span(node),
                hint="name each of them fewer times",
            )


MAX_NESTED = 200
"""The operators above each other at most: each passes on the columns of all below."""


MAX_JOINED = 100
"""The tables of one inner join at most: DuckDB takes 2 s to order 100, 7 s 130, and minutes 300.

It does so after the charge, and what is being planned isn't interrupted.
"""


def check_nesting(plan: Plan) -> None:
    """Refuse a plan of a long chain of subqueries, or of a join of many tables."""
    waiting = [(plan, 1)]
    while waiting:
        part, depth = waiting.pop()
        if depth > MAX_NESTED:
            raise TooComplex(
                f"the query has more than {MAX_NESTED} steps one above the other",
                hint="use fewer subqueries, outer joins and UNIONs",
            )
        if isinstance(part, Join) and _joined(part) > MAX_JOINED:
            raise TooComplex(
                f"one join has more than {MAX_JOINED} tables",
                hint="join fewer, or aggregate some of them in a subquery first",
            )
        waiting += [(source, depth + 1) for source in sources(part)]


def _joined(plan: Plan) -> int:
    """How many tables an engine puts in order with each other: those of derived tables, too."""
    match plan:
        case Join(sources=joined):
            return sum(map(_joined, joined))
        case Filter(source=below) | Project(source=below):
            return _joined(below)
        case _:
            return 1


class Sizes:
    """The sizes of expressions, each measured once."""

    def __init__(self) -> None:
        # By id(), which no other object has while the expression is held.
        self._measured: dict[int, tuple[Expression, int]] = {}

    def checked(self, expression: Expression, node: exp.Expr) -> Expression:
        """`expression`, refused if it is too large."""
        if self._of(expression) > MAX_PARTS:
            raise TooComplex(
                "the expression grows too large",
                at=span(node),
                hint="nest fewer BETWEEN, COALESCE, NULLIF and CASE",
            )
        return expression

    def _of(self, expression: Expression) -> int:
        measured = self._measured.get(id(expression))
        if measured is None:
            size = 1 + sum(map(self._of, operands(expression)))
            measured = self._measured[id(expression)] = (expression, size)
        return measured[1]
