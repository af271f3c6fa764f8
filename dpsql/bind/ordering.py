"""ORDER BY and LIMIT, of public and released rows only."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from dpsql.bind.allow import only
from dpsql.bind.context import Selected
from dpsql.bind.literal import number
from dpsql.bind.parse import span
from dpsql.errors import Refused, SyntaxFault, UnknownColumn
from dpsql.plan.expression import Column, Expression, Literal
from dpsql.plan.operator import Limit, Nothing, Plan, Sort, SortKey
from dpsql.stability.lineage import Visibility, visibility


def order_keys(node: exp.Expr, read: Callable[[exp.Expr], Expression]) -> list[SortKey]:
    """The terms of ORDER BY, each as `read` understands it."""
    order = node.args.get("order")
    if order is None:
        return []
    only(order, "expressions")
    keys: list[SortKey] = []
    for term in order.expressions:
        only(term, "this", "desc", "nulls_first")
        descending, nulls_first = (bool(term.args.get(key)) for key in ("desc", "nulls_first"))
        keys.append(SortKey(read(term.this), descending, nulls_first))
    return keys


def order_by_name(node: exp.Expr, selected: Selected) -> Selected:
    """ORDER BY of a set operation: by number or name of its columns."""
    keys = order_keys(node, lambda term: _named(term, selected))
    if not keys:
        return selected
    return Selected(sorted_rows(selected.plan, tuple(keys), node.args["order"]), selected.names)


def sorted_rows(plan: Plan, keys: tuple[SortKey, ...], clause: exp.Expr) -> Plan:
    """`plan` in order; of two private rows, which is first depends on there being the other."""
    if visibility(plan) is Visibility.PRIVATE:
        raise _private_order(clause)
    # All rows agree on a constant, and DuckDB refuses to sort by a text.
    told = tuple(key for key in keys if not isinstance(key.expression, Literal))
    return Sort(plan, told) if told else plan


def row_limit(node: exp.Expr, selected: Selected) -> Selected:
    """LIMIT and OFFSET; LIMIT 0 is empty whatever it is of, and reads nothing."""
    count, offset = limit_of(node)
    if count == 0:
        return Selected(Nothing(selected.columns), selected.names)
    if count is None and not offset:
        return selected
    if visibility(selected.plan) is Visibility.PRIVATE:
        raise _private_order(node.args.get("limit") or node.args["offset"])
    return Selected(Limit(selected.plan, count, offset), selected.names)


def limit_of(node: exp.Expr) -> tuple[int | None, int]:
    """The constants of LIMIT and OFFSET."""
    return _constant(node, "limit"), _constant(node, "offset") or 0


def _private_order(clause: exp.Expr) -> Refused:
    """The refusal of ORDER BY or LIMIT below a release."""
    return Refused(
        "ORDER BY and LIMIT of private rows: whether one appears depends on the others",
        at=span(clause),
        hint="aggregate first, then order what is released",
        note="order_limit",
    )


def _constant(node: exp.Expr, clause: str) -> int | None:
    found = node.args.get(clause)
    if found is None:
        return None
    only(found, "expression")
    count = found.expression
    if isinstance(count, exp.Literal) and not count.is_string:
        value = number(count.this, span(count)).value
        if isinstance(value, int) and value >= 0:
            return value
    raise SyntaxFault(
        f"{clause.upper()} takes a whole number of at least 0",
        at=span(found),
        hint=f"write {clause.upper()} 10",
    )


def _named(node: exp.Expr, selected: Selected) -> Column:
    if isinstance(node, exp.Literal) and not node.is_string and node.this.isdigit():
        place = int(node.this)
        if 1 <= place <= len(selected.columns):
            return selected.columns[place - 1]
        raise SyntaxFault(f"there is no column {place} in the SELECT list", at=span(node))
    if isinstance(node, exp.Column) and not node.table:
        for name, column in zip(selected.names, selected.columns, strict=True):
            if name.casefold() == node.name.casefold():
                return column
        raise UnknownColumn(f"there is no column {node.name} in the SELECT list", at=span(node))
    raise Refused(
        "a set operation is ordered by its columns only",
        at=span(node),
        hint="write ORDER BY 1",
        note="set_operations",
    )
