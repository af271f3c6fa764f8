"""Comparisons of row values, as PostgreSQL means them: with a NULL part, they are unknown.

The pipeline compares rows as DuckDB does, where a NULL equals a NULL. IN and ANY of a subquery mean
the same in PostgreSQL and in the pipeline.
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.bind.expression.row_value import row_parts
from dpsql.bind.syntax.parse import span
from dpsql.errors import Refused
from dpsql.pgwire.sql.tree_search import find_all

_STRICT: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.LT: exp.LT,
    exp.LTE: exp.LT,
    exp.GT: exp.GT,
    exp.GTE: exp.GT,
}


def compare_parts(tree: exp.Expr) -> None:
    """Replace comparisons of row values by comparisons of their parts, in place."""
    for case in find_all(tree, exp.Case):
        if case.this is not None and row_parts(case.this) is not None:
            raise Refused(
                "CASE of a row value has no rule",
                at=span(case.this),
                hint="write the comparison: CASE WHEN (a, b) = (1, 2) THEN …",
            )
    for select in find_all(tree, exp.Select):
        for item in select.expressions:
            if row_parts(item.unalias()) is not None:
                raise Refused(
                    "a row value in a SELECT list has no rule",
                    at=span(item),
                    hint="name its parts one by one: a, b",
                )
    comparisons = [*find_all(tree, exp.EQ, exp.NEQ, *_STRICT, exp.In, exp.Between)]
    for node in reversed(comparisons):
        meant = _translated(node)
        if meant is not None:
            node.replace(exp.paren(meant, copy=False))


def _translated(node: exp.Expr) -> exp.Expr | None:
    match node:
        case exp.In():
            if row_parts(node.this) is None or not node.expressions:
                return None
            if any(isinstance(row, exp.Query | exp.Values) for row in node.expressions):
                return None
            return exp.or_(*(_compared(exp.EQ, node.this, row) for row in node.expressions))
        case exp.Between():
            if row_parts(node.this) is None:
                return None
            low = _compared(exp.GTE, node.this, node.args["low"])
            return exp.and_(low, _compared(exp.LTE, node.this, node.args["high"]))
        case _:
            if row_parts(node.this) is None or row_parts(node.expression) is None:
                return None
            return _compared(type(node), node.this, node.expression)


def _compared(kind: type[exp.Expr], left: exp.Expr, right: exp.Expr) -> exp.Expr:
    """The comparison `kind` of `left` and `right` as comparisons of copies of their parts."""
    ours, theirs = row_parts(left), row_parts(right)
    if ours is None or theirs is None or len(ours) != len(theirs):
        return kind(this=left.copy(), expression=right.copy())
    pairs = list(zip(ours, theirs, strict=True))
    if kind is exp.EQ:
        return exp.and_(*(_compared(kind, a, b) for a, b in pairs))
    if kind is exp.NEQ:
        return exp.or_(*(_compared(kind, a, b) for a, b in pairs))
    *first, (a, b) = pairs
    condition = _compared(kind, a, b)
    for a, b in reversed(first):
        same = exp.and_(_compared(exp.EQ, a, b), condition)
        condition = exp.or_(_compared(_STRICT[kind], a, b), same)
    return condition
