"""SELECT DISTINCT; in a correlated subquery, the distinct rows among those that an outer row meets.

The rows that an outer row meets by equalities share the equated values. So the distinct rows with
these values as further columns are the distinct rows for each outer row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet

from sqlglot import exp

from dpsql.bind.context import BoundQuery, Context
from dpsql.bind.query.distinct_rows import distinct_rows
from dpsql.bind.query.order_by import sorted_rows
from dpsql.bind.subquery.equality import by_more_than_equalities, inner_side
from dpsql.bind.syntax.parse import span
from dpsql.errors import GroupingFault
from dpsql.plan.expression import Column, Expression
from dpsql.plan.output_columns import output_columns
from dpsql.plan.sort_key import SortKey
from dpsql.plan.traversal import rewrite_top_down
from dpsql.structs import replace


def check_equalities(
    correlated: Iterable[Expression], outer: AbstractSet[Column], node: exp.Select
) -> None:
    """Refuse DISTINCT in a subquery that is correlated by more than equalities of its columns."""
    if not all(isinstance(inner_side(condition, outer), Column) for condition in correlated):
        raise by_more_than_equalities("DISTINCT", node)


def distinct(
    shown: BoundQuery,
    computed: Sequence[Expression],
    order: Iterable[SortKey],
    node: exp.Select,
    context: Context,
) -> BoundQuery:
    """The distinct rows of `shown` in `order`, whose keys are among the selected expressions.

    `computed` are these expressions, for the columns that `shown` begins with.
    """
    rows = distinct_rows(shown.plan, context)
    distinct_columns = output_columns(rows)
    meaning: dict[Expression, Expression] = dict(zip(shown.columns, distinct_columns, strict=True))
    correlated = tuple(rewrite_top_down(meaning.get, condition) for condition in shown.correlated)
    # The columns that correlated conditions read come after the selected ones.
    by_expression = dict(zip(computed, distinct_columns, strict=False))
    keys: list[SortKey] = []
    for key in order:
        if key.expression not in by_expression:
            raise GroupingFault(
                "SELECT DISTINCT is ordered by selected columns only",
                at=span(node.args["order"]),
                hint="add the expression to the SELECT list",
            )
        keys.append(replace(key, expression=by_expression[key.expression]))
    if keys:
        rows = sorted_rows(rows, tuple(keys), node.args["order"])
    return BoundQuery(rows, shown.names, correlated)
