"""Conditions: connectives, BETWEEN, IN and IS."""

from __future__ import annotations

from sqlglot import exp

from dpsql.bind.expression.collation import collated
from dpsql.bind.expression.conditional import Binder
from dpsql.bind.expression.row_value import disjunction, row_in_list, row_parts
from dpsql.bind.syntax.allowlist import require_args, unlisted, unsupported
from dpsql.plan.expression import (
    And,
    Compare,
    Comparison,
    Expression,
    InList,
    IsNull,
    Literal,
    Not,
    Or,
    conjunction,
)
from dpsql.schema.sql_type import Boolean


def bind_between(binder: Binder, node: exp.Between) -> Expression:
    """`x BETWEEN low AND high`, as two comparisons."""
    require_args(node, "this", "low", "high")
    low = binder.compare(Comparison.GREATER_EQUAL, node.this, node.args["low"])
    return And((low, binder.compare(Comparison.LESS_EQUAL, node.this, node.args["high"])))


def bind_connective(binder: Binder, node: exp.Expr) -> Expression:
    """A chain of ANDs, or of ORs, as one expression of all its operands."""
    kind = type(node)
    operands: list[exp.Expr] = []
    while type(node) is kind:
        require_args(node, "this", "expression")
        operands.append(node.expression)
        node = node.this
    operands.append(node)
    bound = tuple(binder.condition(operand) for operand in reversed(operands))
    return And(bound) if kind is exp.And else Or(bound)


def bind_in(binder: Binder, node: exp.In) -> Expression:
    """IN over listed values."""
    require_args(node, "this", "expressions")
    if row_parts(node.this) is not None:
        return row_in_list(binder, node)
    nodes = collated([node.this, *node.expressions])
    operand, *values = binder.unified(nodes)
    constants = tuple(value for value in values if isinstance(value, Literal))
    if len(constants) == len(values):
        return InList(operand, constants)
    return Or(tuple(Compare(Comparison.EQUAL, operand, value) for value in values))


def quantified_list(node: exp.Expr) -> exp.Expr | None:
    """`node`, if it is ANY (…) or ALL (…) of listed values or of anything; else None."""
    if isinstance(node, exp.Any | exp.All):
        return node
    is_called = isinstance(node, exp.Anonymous) and node.name.casefold() in ("any", "some", "all")
    return node if is_called and len(node.expressions) == 1 else None


def bind_quantified(
    binder: Binder, op: Comparison, operand: exp.Expr, quantifier: exp.Expr
) -> Expression:
    """`operand op ANY (values)`, or `operand op ALL (values)`, of values that are listed."""
    is_all = isinstance(quantifier, exp.All) or quantifier.name.casefold() == "all"
    among = quantifier.this if isinstance(quantifier, exp.Any | exp.All) else None
    among = quantifier.expressions[0] if among is None else among.unnest()
    if not isinstance(among, exp.Array | exp.Tuple):
        word = "ALL" if is_all else "ANY"
        hint = "write x IN (1, 2, 3)" if op is Comparison.EQUAL else "compare with min(…) or max(…)"
        raise unsupported(
            quantifier, f"{word} (…) of a query here, or of what isn't a list", hint=hint
        )
    require_args(among, "expressions", "value_constructor")
    listed = among.expressions
    if not listed:
        return Literal(is_all, Boolean())
    if op is Comparison.EQUAL and not is_all:
        return binder.bind(exp.In(this=operand, expressions=listed))
    if op is Comparison.UNEQUAL and is_all:
        return Not(binder.condition(exp.In(this=operand, expressions=listed)))
    parts = tuple(binder.compare(op, operand, value) for value in listed)
    return conjunction(parts) if is_all else disjunction(parts)


def bind_is(binder: Binder, node: exp.Is) -> Expression:
    """IS NULL, IS TRUE, IS FALSE."""
    require_args(node, "this", "expression")
    match node.expression:
        case exp.Null():
            return IsNull(binder.bind(node.this))
        case exp.Boolean() as truth:
            known = Literal(bool(truth.this), Boolean())
            return Compare(Comparison.NOT_DISTINCT, binder.condition(node.this), known)
        case _:
            raise unlisted(node)
