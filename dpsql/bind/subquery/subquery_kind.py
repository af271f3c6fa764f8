"""What a statement reads of a subquery: its truth or a value, one row or any.

To tell NULL from FALSE takes a second query, which is made only where the difference matters.
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.bind.aggregate.aggregates import has_aggregate
from dpsql.bind.syntax.allowlist import unsupported

_FILTERS = ("group", "having", "qualify", "limit", "offset")
"""Clauses by which a SELECT that aggregates may have no row, or several."""


def only_truth_counts(node: exp.Expr) -> bool:
    """Whether NULL in the place of `node` means what FALSE means there.

    So it does in a condition, below AND and OR; `NOT x`, `x IS NULL` and `x = FALSE` tell them
    apart.
    """
    parent = node.parent
    while isinstance(parent, exp.Paren | exp.And | exp.Or):
        node, parent = parent, parent.parent
    match parent:
        case exp.Where() | exp.Having() | exp.Qualify():
            return True
        case exp.If():
            return node.arg_key == "this"
        case _:
            return False


def has_one_row(query: exp.Expr) -> bool:
    """Whether `query` aggregates all of its rows: one row, also of none, but for LIMIT 0."""
    select = without_limit(query).unnest()
    return (
        isinstance(select, exp.Select)
        and not any(select.args.get(clause) for clause in _FILTERS)
        and any(has_aggregate(item) for item in select.expressions)
    )


def has_groups(query: exp.Expr) -> bool:
    """Whether `query` has no row where no row satisfies its WHERE."""
    group = query.unnest().args.get("group")
    return group is not None and not all(
        isinstance(key, exp.Tuple) and not key.expressions for key in group.expressions
    )


def without_limit(query: exp.Expr) -> exp.Expr:
    """`query` without LIMIT 1 or more, and without its order, where any of its rows is enough."""
    select = query.unnest()
    limit = select.args.get("limit")
    if not isinstance(select, exp.Select) or limit is None or select.args.get("offset") is not None:
        return query
    count = limit.expression if isinstance(limit, exp.Limit) else None
    if not isinstance(count, exp.Literal) or not count.this.isdigit() or int(count.this) == 0:
        return query
    changed = query.copy()
    for clause in ("limit", "order"):
        changed.unnest().set(clause, None)
    return changed


def without_distinct(query: exp.Expr) -> exp.Expr:
    """`query` without DISTINCT, where it makes no difference how often a row is there."""
    select = query.unnest()
    distinct = select.args.get("distinct")
    if not isinstance(select, exp.Select) or distinct is None or distinct.args.get("on"):
        return query
    if any(select.args.get(clause) for clause in ("limit", "offset")):
        return query
    changed = query.copy()
    for clause in ("distinct", "order"):
        changed.unnest().set(clause, None)
    return changed


def check_unlimited(query: exp.Expr) -> None:
    """Refuse LIMIT and OFFSET of the correlated `query`, which is evaluated for each outer row."""
    clause = query.unnest().args.get("limit") or query.unnest().args.get("offset")
    if clause is not None:
        raise unsupported(
            clause,
            "LIMIT or OFFSET in a subquery that names columns of the query around it",
            hint="aggregate in the subquery instead: (SELECT min(…) FROM … WHERE …)",
        )
