"""ORDER BY and LIMIT, of public and released rows only."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from dpsql.analysis.lineage.lineage import Visibility, visibility
from dpsql.bind.context import BoundQuery
from dpsql.bind.expression.expression import ExpressionBinder
from dpsql.bind.query.sort_key import distinguishing_keys, order_terms
from dpsql.bind.scope import Scope, near_columns
from dpsql.bind.syntax.allowlist import require_args, unsupported
from dpsql.bind.syntax.parameter import Parameters
from dpsql.bind.syntax.parse import span, written_number
from dpsql.errors import DataError, Refused, SyntaxFault, UnknownColumn
from dpsql.plan.expression import Column, Expression, Literal
from dpsql.plan.numeric_types import holds
from dpsql.plan.operator import Limit, Plan, Sort, Values
from dpsql.plan.sort_key import SortKey
from dpsql.schema.sql_type import BIGINT, Integer


def order_keys(
    node: exp.Expr, read: Callable[[exp.Expr], Expression], every: Sequence[Expression] = ()
) -> list[SortKey]:
    """The terms of ORDER BY, each as `read` understands it; ORDER BY ALL means `every` column."""
    order = node.args.get("order")
    if order is None:
        return []
    return order_terms(order, read, every)


def order_by_name(node: exp.Expr, selected: BoundQuery) -> BoundQuery:
    """ORDER BY of a set operation: by number or name of its columns."""
    keys = order_keys(node, lambda term: _named(term, selected), selected.columns)
    if not keys:
        return selected
    return BoundQuery(sorted_rows(selected.plan, tuple(keys), node.args["order"]), selected.names)


def sorted_rows(plan: Plan, keys: tuple[SortKey, ...], clause: exp.Expr) -> Plan:
    """`plan` in the order of `keys`; Refused if private: a row's rank depends on other units."""
    if visibility(plan) is Visibility.PRIVATE:
        raise _private_order(clause)
    distinguishing = distinguishing_keys(keys)
    return Sort(plan, distinguishing) if distinguishing else plan


def row_limit(node: exp.Expr, selected: BoundQuery, parameters: Parameters) -> BoundQuery:
    """`selected` with LIMIT and OFFSET of `node`; LIMIT 0 reads nothing, private rows or not."""
    count, offset = limit_of(node, parameters)
    if count == 0:
        return BoundQuery(Values(selected.columns, ()), selected.names)
    if count is None and not offset:
        return selected
    if visibility(selected.plan) is Visibility.PRIVATE:
        raise _private_order(node.args.get("limit") or node.args["offset"])
    return BoundQuery(Limit(selected.plan, count, offset), selected.names)


def limit_of(node: exp.Expr, parameters: Parameters) -> tuple[int | None, int]:
    """The constants of LIMIT, None without one, and OFFSET; LIMIT ALL and NULL are None, too."""
    limit, offset = node.args.get("limit"), node.args.get("offset")
    count = None if limit is None else _rows(limit, parameters)
    if offset is None:
        return count, 0
    require_args(offset, "expression")
    return count, _constant(offset, offset.expression, parameters) or 0


def _private_order(clause: exp.Expr) -> Refused:
    """The refusal of ORDER BY or LIMIT below a release."""
    return Refused(
        "ORDER BY and LIMIT of private rows: whether one appears depends on the others",
        at=span(clause),
        hint="aggregate first, then order what is released",
        note="order_limit",
    )


def _rows(limit: exp.Expr, parameters: Parameters) -> int | None:
    _check_options(limit)
    if isinstance(limit, exp.Fetch):
        require_args(limit, "direction", "count", "limit_options")
        # FETCH FIRST ROW ONLY: one.
        return _constant(limit, limit.args.get("count") or exp.Literal.number(1), parameters)
    require_args(limit, "expression", "limit_options")
    if isinstance(limit.expression, exp.Var) and limit.expression.name == "ALL":
        return None
    return _constant(limit, limit.expression, parameters)


def _check_options(limit: exp.Expr) -> None:
    options = limit.args.get("limit_options")
    for option, what in (("percent", "a LIMIT in percent"), ("with_ties", "WITH TIES")):
        if options is not None and options.args.get(option):
            raise unsupported(limit, what, hint="write LIMIT 10")


def _constant(clause: exp.Expr, count: exp.Expr, parameters: Parameters) -> int | None:
    """The whole number that `count` is, as text, parameter or `(SELECT 10)`; None for NULL."""
    count = _selected(count)
    bound = ExpressionBinder(Scope(), lambda _: None, parameters).bind(count)
    name = "OFFSET" if isinstance(clause, exp.Offset) else "LIMIT"
    if isinstance(bound, Literal):
        if bound.value is None:
            return None
        if isinstance(bound.type, Integer) and isinstance(bound.value, int) and bound.value >= 0:
            if holds(BIGINT, bound.value):
                return bound.value
            raise DataError(
                f"{name} takes no number of 2^63 or more", at=span(clause), hint="leave it out"
            )
    raise SyntaxFault(
        f"{name} takes a whole number of at least 0", at=span(clause), hint=f"write {name} 10"
    )


def _selected(count: exp.Expr) -> exp.Expr:
    """The item of a query such as `(SELECT 10)`; `count` itself if it is anything else."""
    query = count.unnest()
    if not isinstance(query, exp.Select) or len(query.expressions) != 1:
        return count
    (item,) = query.expressions
    parts = {name for name, part in query.args.items() if part}
    return item.unalias() if parts == {"expressions"} else count


def _named(node: exp.Expr, selected: BoundQuery) -> Column:
    """The column of a set operation that the ORDER BY term `node` names, by number or name."""
    ordinal = written_number(node)
    if ordinal is not None:
        if 1 <= ordinal <= len(selected.columns):
            return selected.columns[ordinal - 1]
        raise SyntaxFault(f"there is no column {ordinal} in the SELECT list", at=span(node))
    if isinstance(node, exp.Column) and not node.table:
        for name, column in zip(selected.names, selected.columns, strict=True):
            if name.casefold() == node.name.casefold():
                return column
        what = f"there is no column {node.name} in the SELECT list"
        raise UnknownColumn(what, at=span(node), **near_columns(node.name, selected.names))
    raise Refused(
        "a set operation is ordered by its columns only",
        at=span(node),
        hint="write ORDER BY 1",
        note="set_operations",
    )
