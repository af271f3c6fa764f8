"""Whether private rows are there, asked by rows that belong to nobody: a noisy count tells.

    SELECT specialty FROM doctors d
    WHERE EXISTS (SELECT 1 FROM visits v WHERE v.doctor_id = d.doctor_id)

is asked as `coalesce((SELECT dp_interval_low(count(*)) FROM visits v WHERE …), 0) > 0`, a release
with one count for each doctor. Rows are there if their count is above 0 by more than its noise, so
that a doctor without visits passes for one with some in 1 of 40 cases, and not in every second one.
Without noise it is EXISTS itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from sqlglot import exp

from dpsql.bind.aggregate.aggregates import has_aggregate
from dpsql.bind.scope import Merged, Scope
from dpsql.bind.subquery.subquery_kind import without_limit
from dpsql.errors import InternalError
from dpsql.plan.expression import And, Case, Expression, IsNull, Literal, Or, When
from dpsql.plan.traversal import columns
from dpsql.schema.sql_type import Boolean

_OPERAND: Final = "\0"
"""What IN looks for, by a name that no column has."""

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


@dataclass(frozen=True, slots=True)
class Listed:
    """A private list that IN looks in: its `query`, and what each row has.

    `asks_nulls`: whether it makes a difference that some of that is NULL; `asks_any`: that there is
    any, since NULL is in no empty list.
    """

    query: exp.Expr
    item: exp.Expr
    asks_nulls: bool
    asks_any: bool


def counted_member(
    operands: Expression, listed: Listed, scope: Scope, bind: Callable[[exp.Expr], Expression]
) -> Expression:
    """IN, by counts of the private rows that are equal to `operands`, and of those that may be."""

    def count(*conditions: exp.Expr) -> Expression:
        counted = are_there(listed.query, *conditions)
        if counted is None:
            raise InternalError("a list has plain rows")
        return bind(counted)

    scope.merged[_OPERAND] = Merged(operands, columns(operands))
    equal = count(exp.EQ(this=listed.item, expression=exp.column(_OPERAND, quoted=True)))
    del scope.merged[_OPERAND]
    unknown: Expression = IsNull(operands)
    if listed.asks_any:
        unknown = And((unknown, count()))
    if listed.asks_nulls:
        unknown = Or((unknown, count(exp.Is(this=listed.item, expression=exp.null()))))
    yes, no, null = (Literal(value, Boolean()) for value in (True, False, None))
    return Case((When(equal, yes), When(unknown, null)), no, Boolean())


def item_of(query: exp.Expr) -> exp.Expr | None:
    """The one value that each row of `query` has; None where that is no plain SELECT of one."""
    select = _plain(query)
    if select is None or len(select.expressions) != 1:
        return None
    item = select.expressions[0].unalias()
    return None if isinstance(item, exp.Star) or has_aggregate(item) else item


def are_there(query: exp.Expr, *conditions: exp.Expr) -> exp.Expr | None:
    """The text of `EXISTS (query)`, of those of its rows for which all `conditions` hold.

    None where `query` isn't a plain SELECT: of groups, or of rows that are cut off, it would be the
    presence of something else.
    """
    select = _plain(query)
    if select is None:
        return None
    count = exp.Anonymous(this="dp_interval_low", expressions=[exp.Count(this=exp.Star())])
    counted = select.copy().select(count, append=False, copy=False).where(*conditions, copy=False)
    counted.set("order", None)
    found = exp.Coalesce(this=exp.Subquery(this=counted), expressions=[exp.Literal.number(0)])
    return exp.Paren(this=exp.GT(this=found, expression=exp.Literal.number(0)))


def _plain(query: exp.Expr) -> exp.Select | None:
    select = without_limit(query).unnest()
    if not isinstance(select, exp.Select) or any(select.args.get(name) for name in _OTHER_CLAUSES):
        return None
    # It is bound a second time: a nest of these would be bound 2^n times.
    asks = any(isinstance(part, exp.Query) for part in select.walk() if part is not select)
    return None if asks or any(map(has_aggregate, select.expressions)) else select
