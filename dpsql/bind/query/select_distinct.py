"""SELECT DISTINCT: of a subquery, the rows that differ among those that one row around asks for.

Rows that are asked for by equalities share the values that are equal, so that what is distinct
among them is so with these values beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from sqlglot import exp

from dpsql.bind.context import BoundQuery, Context
from dpsql.bind.query.order_by import sorted_rows
from dpsql.bind.query.query import distinct_rows
from dpsql.bind.subquery.equality import by_more_than_equalities, inner_side
from dpsql.bind.syntax.parse import span
from dpsql.errors import GroupingFault
from dpsql.plan.expression import Column, Expression
from dpsql.plan.output_columns import output_columns
from dpsql.plan.sort_key import SortKey
from dpsql.plan.traversal import rewrite_top_down


def check_equalities(
    subquery: Iterable[Expression], outer: AbstractSet[Column], node: exp.Select
) -> None:
    """Refuse DISTINCT of rows that are asked for by anything but columns that are equal."""
    if not all(isinstance(inner_side(condition, outer), Column) for condition in subquery):
        raise by_more_than_equalities("DISTINCT", node)


def distinct(
    shown: BoundQuery,
    computed: Sequence[Expression],
    order: Iterable[SortKey],
    node: exp.Select,
    context: Context,
) -> BoundQuery:
    """The distinct rows of `shown`, whose columns are `computed`, in the `order` of some."""
    rows = distinct_rows(shown.plan, context)
    found = output_columns(rows)
    meaning: dict[Expression, Expression] = dict(zip(shown.columns, found, strict=True))
    asked = tuple(rewrite_top_down(meaning.get, condition) for condition in shown.correlated)
    # What is asked by stands behind what is selected.
    place = dict(zip(computed, found, strict=False))
    keys: list[SortKey] = []
    for key in order:
        if key.expression not in place:
            raise GroupingFault(
                "SELECT DISTINCT is ordered by selected columns only",
                at=span(node.args["order"]),
                hint="add the expression to the SELECT list",
            )
        keys.append(replace(key, expression=place[key.expression]))
    if keys:
        rows = sorted_rows(rows, tuple(keys), node.args["order"])
    return BoundQuery(rows, shown.names, asked)
