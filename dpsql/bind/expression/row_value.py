"""Row values, (a, b): compared part by part, never values of their own.

DuckDB compares them as it sorts them: a NULL is equal to a NULL and after everything else, so that
such a comparison is never NULL. With a subquery's rows, as in (a, b) IN (SELECT x, y …), the
comparison is SQL's instead: unknown where an unknown part decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import assert_never

from sqlglot import exp

from dpsql.bind.expression.cast import convert
from dpsql.bind.expression.conditional import Binder
from dpsql.bind.function.function_call import bind_call, registered
from dpsql.bind.syntax.allowlist import require_args
from dpsql.bind.syntax.parse import span
from dpsql.errors import TypeFault
from dpsql.plan.expression import (
    And,
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
from dpsql.schema.sql_type import Boolean, Double, Varchar

_OPPOSITE = {
    Comparison.LESS_EQUAL: Comparison.GREATER,
    Comparison.GREATER_EQUAL: Comparison.LESS,
}


def row_parts(node: exp.Expr) -> list[exp.Expr] | None:
    """The parts of `node`, (a, b) or ROW(a, b); None if it is no row value."""
    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.Tuple):
        require_args(node, "expressions")
        return list(node.expressions) or None
    if isinstance(node, exp.Anonymous) and node.name.casefold() == "row":
        return list(node.expressions) or None
    return None


def compare_rows(binder: Binder, op: Comparison, left: exp.Expr, right: exp.Expr) -> Expression:
    """`left op right`, at least one of which is a row value."""
    if isinstance(left, exp.Null) or isinstance(right, exp.Null):
        return Literal(None, Boolean())
    pairs = _paired(left, right)
    match op:
        case Comparison.EQUAL | Comparison.NOT_DISTINCT:
            return conjunction(_each(binder, Comparison.NOT_DISTINCT, pairs))
        case Comparison.UNEQUAL | Comparison.DISTINCT:
            return disjunction(_each(binder, Comparison.DISTINCT, pairs))
        case Comparison.LESS | Comparison.GREATER:
            return _in_order(binder, op, pairs)
        case Comparison.LESS_EQUAL | Comparison.GREATER_EQUAL:
            # Of two rows one is always before the other, or equal: NOT meets no NULL.
            return Not(_in_order(binder, _OPPOSITE[op], pairs))
        case missing:
            assert_never(missing)


def row_in_list(binder: Binder, node: exp.In) -> Expression:
    """`(a, b) IN ((1, 2), (3, 4))`."""
    return disjunction(
        tuple(compare_rows(binder, Comparison.EQUAL, node.this, row) for row in node.expressions)
    )


def row_text(parts: Sequence[Expression], node: exp.Expr) -> Expression:
    """A text that is equal for two rows just if all their parts are, for count(DISTINCT (a, b)).

    Each part is written with its length before it, N where it is NULL: 1:a1:b, N2:ab.
    """
    return bind_call(registered("concat", node), tuple(_written(p, node) for p in parts), node)


def disjunction(predicates: tuple[Expression, ...]) -> Expression:
    """Whether any of `predicates` is true; there is one at least."""
    return predicates[0] if len(predicates) == 1 else Or(predicates)


def _paired(left: exp.Expr, right: exp.Expr) -> list[tuple[exp.Expr, exp.Expr]]:
    ours, theirs = row_parts(left), row_parts(right)
    if ours is None or theirs is None or len(ours) != len(theirs):
        has_query = any(isinstance(side.unnest(), exp.Query) for side in (left, right))
        raise TypeFault(
            "a row value is compared with what isn't one of as many parts",
            at=span(right if theirs is None else left),
            hint="(a, b) IN (SELECT x, y FROM …)" if has_query else "(a, b) = (1, 2)",
            note="row_values",
        )
    return list(zip(ours, theirs, strict=True))


def _each(
    binder: Binder, op: Comparison, pairs: Sequence[tuple[exp.Expr, exp.Expr]]
) -> tuple[Expression, ...]:
    return tuple(binder.compare(op, a, b) for a, b in pairs)


def _in_order(
    binder: Binder, op: Comparison, pairs: Sequence[tuple[exp.Expr, exp.Expr]]
) -> Expression:
    """Whether `op`, < or >, holds between the first parts that differ."""
    *first, last = pairs
    ordered = _strictly(binder, op, *last)
    for left, right in reversed(first):
        same = binder.compare(Comparison.NOT_DISTINCT, left, right)
        ordered = Or((_strictly(binder, op, left, right), And((same, ordered))))
    return ordered


def _strictly(binder: Binder, op: Comparison, left: exp.Expr, right: exp.Expr) -> Expression:
    """`left op right`, where NULL is after everything else: TRUE or FALSE."""
    if row_parts(left) is not None or row_parts(right) is not None:
        return compare_rows(binder, op, left, right)
    a, b = binder.unified([left, right])
    low, high = (a, b) if op is Comparison.LESS else (b, a)
    ordered: Expression = Compare(op, a, b)
    if not _is_known(high):
        ordered = Or((IsNull(high), ordered))
    return ordered if _is_known(low) and not _is_known(high) else And((Not(IsNull(low)), ordered))


def _is_known(value: Expression) -> bool:
    return isinstance(value, Literal) and value.value is not None


def _written(part: Expression, node: exp.Expr) -> Expression:
    """One part of `row_text`."""
    value = part
    if isinstance(part.type, Double):
        # 0 and -0 are equal, and printed differently.
        zero = Literal(Fraction(0), part.type)
        value = Case((When(Compare(Comparison.EQUAL, part, zero), zero),), part, part.type)
    text = convert(value, Varchar(), node)
    length = bind_call(registered("length", node), (text,), node)
    with_length = bind_call(
        registered("concat", node),
        (length, Literal(":", Varchar()), text),
        node,
    )
    return Case((When(IsNull(part), Literal("N", Varchar())),), with_length, Varchar())
