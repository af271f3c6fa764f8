"""The terms of an ORDER BY, wherever it stands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from sqlglot import exp

from dpsql.bind.expression.row_value import row_parts
from dpsql.bind.syntax.allowlist import require_args
from dpsql.plan.expression import Expression, Literal
from dpsql.plan.sort_key import SortKey


def order_terms(
    order: exp.Order, read: Callable[[exp.Expr], Expression], every: Sequence[Expression] = ()
) -> list[SortKey]:
    """Each term as `read` understands it; ORDER BY ALL means `every` column."""
    require_args(order, "this", "expressions")
    keys: list[SortKey] = []
    for term in order.expressions:
        require_args(term, "this", "desc", "nulls_first")
        descending, nulls_first = (bool(term.args.get(key)) for key in ("desc", "nulls_first"))
        is_all = isinstance(term.this, exp.Var) and term.this.name.upper() == "ALL"
        if is_all and len(order.expressions) == 1:
            meant = every
        else:
            meant = [read(part) for part in row_parts(term.this) or [term.this]]
        keys += [SortKey(expression, descending, nulls_first) for expression in meant]
    return keys


def distinguishing_keys(keys: Iterable[SortKey]) -> tuple[SortKey, ...]:
    """`keys` without constants, on which all rows agree: DuckDB refuses to sort by a text."""
    return tuple(key for key in keys if not isinstance(key.expression, Literal))
