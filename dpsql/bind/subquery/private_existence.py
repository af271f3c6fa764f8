"""EXISTS and IN over private rows, for outer rows of other units or of nobody: by a noisy count.

    SELECT specialty FROM doctors d
    WHERE EXISTS (SELECT 1 FROM visits v WHERE v.doctor_id = d.doctor_id)

becomes `coalesce((SELECT dp_interval_low(count(*)) FROM visits v WHERE …), 0) > 0`, a release with
one count for each doctor. EXISTS holds if the count is above 0 by more than its noise, so that a
doctor without visits passes for one with some in 1 of 40 cases, and not in every second one.
Without noise it is EXISTS itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec import Struct
from sqlglot import exp

from dpsql.bind.aggregate.aggregates import has_aggregate
from dpsql.bind.scope import Merged, Scope
from dpsql.bind.subquery.quantified_comparison import three_valued
from dpsql.bind.subquery.subquery_kind import without_limit
from dpsql.errors import InternalError
from dpsql.plan.expression import And, Expression, IsNull, Or
from dpsql.plan.traversal import columns

_OPERAND: Final = "\0"
"""The name of IN's left operand in the condition of the count: no column has it."""

_OTHER_CLAUSES: Final = (
    "group",
    "having",
    "qualify",
    "windows",
    "limit",
    "offset",
    "distinct",
    "with_",
)


class Listed(Struct, frozen=True):
    """The private rows of `query` that IN looks in, and `item`, the expression of their one column.

    `asks_nulls`: whether the answer depends on NULL being among the items; `asks_any`: whether it
    depends on there being any item, since NULL IN (an empty list) is FALSE.
    """

    query: exp.Expr
    item: exp.Expr
    asks_nulls: bool
    asks_any: bool


def counted_member(
    operands: Expression, listed: Listed, scope: Scope, bind: Callable[[exp.Expr], Expression]
) -> Expression:
    """IN, by noisy counts of the items that are equal to `operands`, and of those that may be."""

    def count(*conditions: exp.Expr) -> Expression:
        condition = exists_by_count(listed.query, *conditions)
        if condition is None:
            raise InternalError("a list has plain rows")
        return bind(condition)

    scope.merged[_OPERAND] = Merged(operands, columns(operands))
    equal = count(exp.EQ(this=listed.item, expression=exp.column(_OPERAND, quoted=True)))
    del scope.merged[_OPERAND]
    unknown: Expression = IsNull(operands)
    if listed.asks_any:
        unknown = And((unknown, count()))
    if listed.asks_nulls:
        unknown = Or((unknown, count(exp.Is(this=listed.item, expression=exp.null()))))
    return three_valued(equal, unknown)


def item_of(query: exp.Expr) -> exp.Expr | None:
    """The expression that `query` selects; None if it isn't a plain SELECT of one column."""
    select = _plain(query)
    if select is None or len(select.expressions) != 1:
        return None
    item = select.expressions[0].unalias()
    return None if isinstance(item, exp.Star) or has_aggregate(item) else item


def exists_by_count(query: exp.Expr, *conditions: exp.Expr) -> exp.Expr | None:
    """The condition that a noisy count shows rows of `query` which satisfy all `conditions`.

    None where `query` isn't a plain SELECT: with groups or LIMIT, its rows aren't those of the
    count.
    """
    select = _plain(query)
    if select is None:
        return None
    count = exp.Anonymous(this="dp_interval_low", expressions=[exp.Count(this=exp.Star())])
    counted = select.copy().select(count, append=False, copy=False).where(*conditions, copy=False)
    counted.set("order", None)
    low_count = exp.Coalesce(this=exp.Subquery(this=counted), expressions=[exp.Literal.number(0)])
    return exp.Paren(this=exp.GT(this=low_count, expression=exp.Literal.number(0)))


def _plain(query: exp.Expr) -> exp.Select | None:
    """The SELECT that `query` is, if it has no groups, aggregates, LIMIT or subqueries."""
    select = without_limit(query).unnest()
    if not isinstance(select, exp.Select) or any(select.args.get(name) for name in _OTHER_CLAUSES):
        return None
    # It is bound a second time: a nest of these would be bound 2^n times.
    has_subquery = any(isinstance(part, exp.Query) for part in select.walk() if part is not select)
    return None if has_subquery or any(map(has_aggregate, select.expressions)) else select
