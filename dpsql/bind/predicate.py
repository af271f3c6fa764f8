"""Conditions: connectives, BETWEEN, IN and IS."""

from __future__ import annotations

from sqlglot import exp

from dpsql.bind.allow import only, refused
from dpsql.bind.conditional import Binder
from dpsql.plan.expression import (
    And,
    Compare,
    Comparison,
    Expression,
    InList,
    IsNull,
    Literal,
    Or,
)
from dpsql.schema.type import Boolean


def bind_between(binder: Binder, node: exp.Between) -> Expression:
    """At least the one, at most the other."""
    only(node, "this", "low", "high")
    low = binder.compare(Comparison.GREATER_EQUAL, node.this, node.args["low"])
    return And((low, binder.compare(Comparison.LESS_EQUAL, node.this, node.args["high"])))


def bind_connective(binder: Binder, node: exp.Expr) -> Expression:
    """AND and OR, however many, read flat."""
    kind = type(node)
    operands: list[exp.Expr] = []
    while type(node) is kind:
        only(node, "this", "expression")
        operands.append(node.expression)
        node = node.this
    operands.append(node)
    bound = tuple(binder.condition(operand) for operand in reversed(operands))
    return And(bound) if kind is exp.And else Or(bound)


def bind_in(binder: Binder, node: exp.In) -> Expression:
    """IN over listed values."""
    only(node, "this", "expressions")
    nodes = [node.this, *node.expressions]
    operand, *values = binder.unified(nodes)
    constants = tuple(value for value in values if isinstance(value, Literal))
    if len(constants) == len(values):
        return InList(operand, constants)
    return Or(tuple(Compare(Comparison.EQUAL, operand, value) for value in values))


def membership(node: exp.Expr) -> exp.Expr:
    """`x = ANY (…)` as `x IN (…)`, and `x <> ALL (…)` as `x NOT IN (…)`."""
    only(node, "this", "expression")
    among = node.expression.this
    while isinstance(among, exp.Paren):
        among = among.this
    if isinstance(among, exp.Query | exp.Subquery):
        found = exp.In(this=node.this, query=among)
    elif isinstance(among, exp.Array | exp.Tuple):
        found = exp.In(this=node.this, expressions=among.expressions)
    else:
        raise refused(node.expression, hint="write x IN (1, 2, 3)")
    return exp.Not(this=found) if isinstance(node, exp.NEQ) else found


def bind_is(binder: Binder, node: exp.Is) -> Expression:
    """IS NULL, IS TRUE, IS FALSE."""
    only(node, "this", "expression")
    match node.expression:
        case exp.Null():
            return IsNull(binder.bind(node.this))
        case exp.Boolean() as truth:
            known = Literal(bool(truth.this), Boolean())
            return Compare(Comparison.NOT_DISTINCT, binder.condition(node.this), known)
        case _:
            raise refused(node)
