"""Queries for a table's columns alone, which BI tools send for every table, and need answered.

LIMIT 0 and 1, WHERE 1 = 0, and lists of a column's values get their columns and no rows where the
rows themselves would be refused. The text alone decides this, never the rows that there are.
SELECT 1 … LIMIT 1 asks whether there are rows: no rows would answer that question, and wrongly.
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.bind.query.query import bind_query, statement_context
from dpsql.bind.saved_release import SavedReleaseNames
from dpsql.bind.syntax.parameter import Parameters
from dpsql.bind.syntax.parse import parse_query
from dpsql.errors import Error
from dpsql.schema.model import Schema
from dpsql.schema.sql_type import SqlType


def asks_for_columns(tree: exp.Expr | None) -> bool:
    """Whether `tree` is a query for columns alone."""
    select = tree
    while isinstance(select, exp.Subquery):
        select = select.this
    if not isinstance(select, exp.Select):
        return False
    limit = select.args.get("limit")
    if isinstance(limit, exp.Limit | exp.Fetch):
        count = limit.args.get("expression") or limit.args.get("count")
        if isinstance(count, exp.Literal) and count.this in {"0", "1"}:
            return count.this == "0" or not _asks_whether(select)
    if select.args.get("distinct") and not select.find(exp.AggFunc):
        return True
    where = select.args.get("where")
    if not isinstance(where, exp.Where):
        return False
    parts = where.this.flatten() if isinstance(where.this, exp.And) else [where.this]
    return any(map(_is_false, parts))


def counted_instead(refusal: Error, tree: exp.Expr | None) -> Error:
    """`refusal`, with a hint to count rows if `tree` asks whether there are any."""
    while isinstance(tree, exp.Subquery):
        tree = tree.this
    if isinstance(tree, exp.Select) and tree.args.get("limit") and _asks_whether(tree):
        refusal.hint = "write SELECT count(*) …, which says how many rows there are, with noise"
    return refusal


def _asks_whether(select: exp.Select) -> bool:
    """Whether the SELECT list has no column of a table."""
    items = select.expressions
    return bool(items) and not any(item.is_star or item.find(exp.Column) for item in items)


def _is_false(node: exp.Expr) -> bool:
    """Whether `node` is a constant that is false: 1 = 0, 1 <> 1, 0 = 1, FALSE."""
    while isinstance(node, exp.Paren):
        node = node.this
    match node:
        case exp.Boolean():
            return not node.this
        case exp.EQ() | exp.NEQ() if _literals(node):
            equal = node.this.this == node.expression.this
            return equal is isinstance(node, exp.NEQ)
        case _:
            return False


def _literals(node: exp.Expr) -> bool:
    return isinstance(node.this, exp.Literal) and isinstance(node.expression, exp.Literal)


def columns_alone(
    sql: str, schema: Schema, values: Parameters, saved: SavedReleaseNames
) -> tuple[tuple[str, ...], tuple[SqlType, ...]]:
    """Names and types of the columns of a query whose rows would be refused."""
    context = statement_context(schema, values, saved)
    tree = parse_query(sql)
    for clause in ("limit", "offset", "order", "distinct"):
        tree.set(clause, None)
    selected = bind_query(tree, context)
    return selected.names, tuple(c.type for c in selected.columns)
