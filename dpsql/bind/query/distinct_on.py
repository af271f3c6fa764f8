"""DISTINCT ON (key) … ORDER BY …: the first row of each key, by row_number() = 1."""

from __future__ import annotations

from sqlglot import exp

from dpsql.bind.syntax.allowlist import only, refused

_IS_DISTINCT_ON = "distinct_on"


def without_distinct_on(node: exp.Select) -> exp.Select:
    """`node`, whose DISTINCT ON is a condition on rows' numbers; as it is if it has none."""
    distinct = node.args.get("distinct")
    if distinct is None or distinct.args.get("on") is None:
        return node
    on = distinct.args["on"]
    only(distinct, "on")
    if node.args.get("qualify") is not None:
        what = "QUALIFY beside DISTINCT ON"
        raise refused(node.args["qualify"], what, "put it into a subquery in FROM")
    items = node.expressions
    keys = on.expressions if isinstance(on, exp.Tuple) else [on.unnest()]
    order = node.args.get("order")
    if order is not None:
        order = order.copy()
        for term in order.expressions:
            term.set("this", _meant(term.this, items))
    number = exp.Window(
        this=exp.Anonymous(this="row_number"),
        partition_by=[_meant(key, items) for key in keys],
        order=order,
        over="OVER",
    )
    changed = node.copy()
    changed.set("distinct", None)
    first = exp.EQ(this=number, expression=exp.Literal.number(1))
    changed.set("qualify", exp.Qualify(this=first))
    changed.meta[_IS_DISTINCT_ON] = True
    return changed


def had_distinct_on(node: exp.Expr) -> bool:
    """DISTINCT ON was written in `node`."""
    return bool(node.meta.get(_IS_DISTINCT_ON))


def _meant(node: exp.Expr, items: list[exp.Expr]) -> exp.Expr:
    """An item of the SELECT list by its place, or what is written."""
    if isinstance(node, exp.Literal) and not node.is_string and node.this.isdigit():
        place = int(node.this)
        if any(item.is_star for item in items[:place]):
            raise refused(node, "the place of a column of *", "name the column")
        if 0 < place <= len(items):
            return items[place - 1].unalias().copy()
    return node.copy()
