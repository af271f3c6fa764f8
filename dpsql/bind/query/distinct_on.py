"""DISTINCT ON (key) … ORDER BY …: the first row of each key, by row_number() = 1.

SELECT DISTINCT ON (k) * FROM t QUALIFY q ORDER BY 2

SELECT a, b FROM (SELECT *, k FROM t QUALIFY q) AS t(a, b, k)
QUALIFY row_number() OVER (PARTITION BY k ORDER BY b) = 1 ORDER BY b
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.bind.context import Context
from dpsql.bind.from_clause.common_table_expression import bound_once
from dpsql.bind.syntax.allowlist import require_args
from dpsql.bind.syntax.parse import span, written_number
from dpsql.errors import SyntaxFault

_IS_DISTINCT_ON = "distinct_on"


def without_distinct_on(node: exp.Select, context: Context) -> tuple[exp.Select, Context]:
    """`node` with QUALIFY row_number() = 1 for its DISTINCT ON, and the context to bind it in."""
    distinct = node.args.get("distinct")
    if distinct is None or distinct.args.get("on") is None:
        return node, context
    on = distinct.args["on"]
    require_args(distinct, "on")
    keys = on.expressions if isinstance(on, exp.Tuple) else [on.unnest()]
    clause = node.args.get("order")
    terms = [] if clause is None else clause.expressions
    # QUALIFY is applied before DISTINCT ON; and an ordinal's column is known once * is expanded.
    items = node.expressions
    of_star = any(written_number(part) for part in (*keys, *(term.this for term in terms)))
    of_star = of_star and any(item.is_star for item in items)
    if node.args.get("qualify") is not None or of_star:
        return _of_subquery(node, keys, terms, context)
    order = [_ordered(term, _resolved(term.this, items)) for term in terms]
    changed = node.copy()
    return _first(changed, [_resolved(key, items) for key in keys], order), context


def had_distinct_on(node: exp.Expr) -> bool:
    """Whether DISTINCT ON stood in `node` before `without_distinct_on`."""
    return bool(node.meta.get(_IS_DISTINCT_ON))


def _of_subquery(
    node: exp.Select, keys: list[exp.Expr], terms: list[exp.Expr], context: Context
) -> tuple[exp.Select, Context]:
    """DISTINCT ON over `node` as a subquery, with keys and terms of ORDER BY as further columns."""
    inner = node.copy()
    for clause in ("distinct", "order", "limit", "offset", "with_"):
        inner.set(clause, None)
    read = [part for part in (*keys, *(term.this for term in terms)) if not written_number(part)]
    inner.set("expressions", [*inner.expressions, *(part.copy() for part in read)])
    rows, selected, context = bound_once(inner, context)
    titles = selected.names
    names = [f"c{index}" for index in range(len(titles))]
    shown = len(titles) - len(read)
    others = iter(names[shown:])

    def column(part: exp.Expr) -> exp.Expr:
        ordinal = written_number(part)
        if ordinal and ordinal > shown:
            raise SyntaxFault(f"there is no column {ordinal} in the SELECT list", at=span(part))
        return exp.column(names[ordinal - 1] if ordinal else next(others))

    on = [column(key) for key in keys]
    order = [_ordered(term, column(term.this)) for term in terms]
    alias = exp.TableAlias(this=exp.to_identifier("t"), columns=list(map(exp.to_identifier, names)))
    named = zip(names[:shown], titles[:shown], strict=True)
    items = [exp.alias_(exp.column(name), title, quoted=True) for name, title in named]
    table = exp.Table(this=exp.to_identifier(rows, quoted=True), alias=alias)
    outer = exp.select(*items).from_(table)
    for clause in ("limit", "offset"):
        outer.set(clause, node.args.get(clause))
    if order:
        outer.set("order", exp.Order(expressions=[term.copy() for term in order]))
    return _first(outer, on, order), context


def _first(node: exp.Select, keys: list[exp.Expr], order: list[exp.Expr]) -> exp.Select:
    """Change `node` to have only the first row of each key, and return it."""
    number = exp.Window(
        this=exp.Anonymous(this="row_number"),
        partition_by=keys,
        order=exp.Order(expressions=order) if order else None,
        over="OVER",
    )
    node.set("distinct", None)
    first = exp.EQ(this=number, expression=exp.Literal.number(1))
    node.set("qualify", exp.Qualify(this=first))
    node.meta[_IS_DISTINCT_ON] = True
    return node


def _ordered(term: exp.Expr, by: exp.Expr) -> exp.Expr:
    changed = term.copy()
    changed.set("this", by)
    return changed


def _resolved(node: exp.Expr, items: list[exp.Expr]) -> exp.Expr:
    """A copy of the item that `node` names by its ordinal, or else of `node` itself."""
    ordinal = written_number(node) or 0
    return (items[ordinal - 1].unalias() if 0 < ordinal <= len(items) else node).copy()
