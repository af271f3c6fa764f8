"""CASE and what is short for it, and typeof()."""

from __future__ import annotations

from typing import Protocol

from sqlglot import exp

from dpsql.bind.syntax.allowlist import require_args
from dpsql.plan.expression import (
    Case,
    Comparison,
    Expression,
    IsNull,
    Literal,
    Not,
    When,
)
from dpsql.schema.sql_type import Varchar


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


def bind_case(binder: Binder, node: exp.Case) -> Expression:
    """CASE, with or without a subject."""
    require_args(node, "this", "ifs", "default")
    subject = node.args.get("this")
    conditions = [
        binder.condition(branch.this)
        if subject is None
        else binder.compare(Comparison.EQUAL, subject, branch.this)
        for branch in node.args["ifs"]
    ]
    results = [branch.args["true"] for branch in node.args["ifs"]]
    default = node.args.get("default") or exp.Null()
    *values, otherwise = binder.unified([*results, default])
    branches = tuple(When(c, v) for c, v in zip(conditions, values, strict=True))
    return Case(branches, otherwise, otherwise.type)


def bind_if(binder: Binder, node: exp.If) -> Expression:
    """`if(condition, a, b)`."""
    require_args(node, "this", "true", "false")
    condition = binder.condition(node.this)
    true, false = binder.unified([node.args["true"], node.args.get("false") or exp.Null()])
    return Case((When(condition, true),), false, true.type)


def bind_coalesce(binder: Binder, node: exp.Coalesce) -> Expression:
    """The first value that isn't NULL."""
    require_args(node, "this", "expressions")
    *values, last = binder.unified([node.this, *node.expressions])
    branches = tuple(When(Not(IsNull(value)), value) for value in values)
    return Case(branches, last, last.type) if branches else last


def bind_nullif(binder: Binder, node: exp.Nullif) -> Expression:
    """NULL where both are equal, else the first."""
    require_args(node, "this", "expression")
    left = binder.bind(node.this)
    equal = binder.compare(Comparison.EQUAL, node.this, node.expression)
    return Case((When(equal, Literal(None, left.type)),), left, left.type)


def bind_typeof(binder: Binder, node: exp.Typeof) -> Expression:
    """The name of a value's type, which the statement tells: no value is read for it."""
    require_args(node, "this")
    return Literal(str(binder.bind(node.this).type), Varchar())
