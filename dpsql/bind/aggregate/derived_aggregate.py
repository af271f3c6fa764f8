"""Aggregates that are functions of other aggregates: only those others are released."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from dpsql.bind.expression.template import instantiate, names

_DEFINITIONS: Final = {
    "geomean": "exp(avg(ln(x)))",
    "geometric_mean": "exp(avg(ln(x)))",
    "regr_sxx": "regr_count(x, y) * var_pop(y) FILTER (WHERE x IS NOT NULL)",
    "regr_sxy": "regr_count(x, y) * covar_pop(x, y)",
    "regr_syy": "regr_count(x, y) * var_pop(x) FILTER (WHERE y IS NOT NULL)",
    "sem": "stddev_pop(x) / sqrt(count(x))",
}
"""Each aggregate's definition over its arguments x and y, in this order.

A regression's first argument is its dependent variable.
"""

_NODES: Final[dict[type[exp.Expr], str]] = {
    exp.RegrSxx: "regr_sxx",
    exp.RegrSxy: "regr_sxy",
    exp.RegrSyy: "regr_syy",
}


DERIVED_NAMES: Final = frozenset(_DEFINITIONS)


def is_derived(node: exp.Expr) -> bool:
    """Whether `node` calls an aggregate that is defined by others."""
    return _name(node) in _DEFINITIONS


def _filtered(tree: exp.Expr, condition: exp.Expr) -> exp.Expr:
    """`tree`, each aggregate of which now takes only rows that satisfy `condition`."""
    for call in list(tree.find_all(exp.AggFunc)):
        if isinstance(call.parent, exp.Filter):
            where = call.parent.expression
            where.set("this", exp.and_(where.this, condition.copy()))
        else:
            where = exp.Where(this=condition.copy())
            call.replace(exp.Filter(this=call.copy(), expression=where))
    return tree


def written_out(node: exp.Expr) -> exp.Expr | None:
    """The expression of other aggregates that defines `node`; None if nothing defines it so."""
    if isinstance(node, exp.Filter) and isinstance(node.expression, exp.Where):
        whole = written_out(node.this)
        return None if whole is None else _filtered(whole, node.expression.this)
    name = _name(node)
    if name not in _DEFINITIONS:
        return None
    arguments = (
        node.expressions
        if isinstance(node, exp.Anonymous)
        else [part for part in (node.this, node.args.get("expression")) if part is not None]
    )
    by_name = dict(zip("xy", arguments, strict=False))
    if names(_DEFINITIONS[name]) != by_name.keys():
        return None
    return exp.paren(instantiate(_DEFINITIONS[name], by_name))


def _name(node: exp.Expr) -> str:
    """The lowercase name of the function that `node` calls; empty for nodes of other kinds."""
    if isinstance(node, exp.Anonymous):
        return node.name.lower()
    return _NODES.get(type(node), "")
