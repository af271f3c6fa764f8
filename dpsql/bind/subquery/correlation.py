"""Correlated conditions of an aggregated subquery: each equality is one more group key.

Other comparisons are allowed among the rows of one unit only. The subquery's rows are joined to the
distinct values that the outer rows compare with, and aggregated for each of these values:

    (SELECT count(*) FROM visits w WHERE w.patient_id = v.patient_id AND w.cost < v.cost)

is, for each patient and cost that v has, the number of the patient's visits that cost less. Until
the outer rows are known, an empty relation stands for the values: `scalar_join` replaces it.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct
from sqlglot import exp

from dpsql.analysis.domains.known_values import never_true
from dpsql.analysis.lineage.lineage import Visibility, visibility
from dpsql.bind.column_ids import Names
from dpsql.bind.grouping.group_by import Grouping
from dpsql.bind.subquery.equality import inner_side
from dpsql.bind.subquery.single_row import of_no_rows
from dpsql.bind.subquery.subquery_kind import has_groups
from dpsql.bind.syntax.parse import span
from dpsql.errors import Refused
from dpsql.plan.aggregate import AggregateOutput
from dpsql.plan.expression import And, Column, Compare, Comparison, Expression
from dpsql.plan.operator import Join, Output, Plan, Values
from dpsql.plan.traversal import columns, rewrite_top_down


class CorrelatedQuery(Struct, frozen=True):
    """An aggregated subquery's rows, its grouping, and its correlated `conditions` over the keys.

    `subquery_columns` are the outer query's columns whose values are joined to the rows, if any.
    """

    rows: Plan
    grouping: Grouping
    conditions: list[Expression]
    subquery_columns: tuple[Output, ...] = ()


def by_key(
    rows: Plan,
    grouping: Grouping,
    correlated: list[Expression],
    outer: set[Column],
    node: exp.Expr,
    names: Names,
) -> CorrelatedQuery:
    """The subquery with a key for each equality, and for each outer value in other comparisons.

    `correlated` are its conditions on `outer`, columns of the outer query.
    """
    inner = [inner_side(condition, outer) for condition in correlated]
    keys = [key for key in inner if key is not None]
    rest = [c for c, key in zip(correlated, inner, strict=True) if key is None]
    if correlated and grouping.sets is not None:
        raise _by_equality(node)
    for key in keys:
        grouping = grouping.with_key(key)
    if not rest:
        return CorrelatedQuery(rows, grouping, correlated)
    if not keys or visibility(rows) is not Visibility.PRIVATE:
        raise _by_equality(node)
    read = sorted(columns(*correlated) & outer, key=lambda column: column.id)
    outer_values = tuple(Output(names.like(c), c) for c in read)
    value_columns: dict[Expression, Expression] = {o.expression: o.column for o in outer_values}
    values = Values(tuple(o.column for o in outer_values), ())
    joined = Join((values, rows), tuple(rewrite_top_down(value_columns.get, c) for c in correlated))
    conditions = [c for c in correlated if c not in rest]
    for column in [c for c in read if c in columns(*rest)]:
        value = value_columns[column]
        grouping = grouping.with_key(value)
        never_of_null = all(_is_null_of_null(c) for c in rest if column in columns(c))
        same = Comparison.EQUAL if never_of_null else Comparison.NOT_DISTINCT
        conditions.append(Compare(same, value, column))
    return CorrelatedQuery(joined, grouping, conditions, outer_values)


def check_grouped(plan: Plan, subquery: CorrelatedQuery, node: exp.Expr) -> None:
    """Refuse correlated conditions other than equalities on groups of several units' rows."""
    if subquery.subquery_columns and visibility(plan) is not Visibility.PRIVATE:
        raise _by_equality(node)


def check_empty(
    condition: Expression | None,
    correlated: list[Expression],
    aggregates: Iterable[AggregateOutput],
    node: exp.Expr,
) -> None:
    """Refuse HAVING that holds of no rows in a correlated subquery, where no rows have no group."""
    if condition is None or not correlated or has_groups(node):
        return
    if not never_true(condition, {a.column: of_no_rows(a) for a in aggregates}):
        raise Refused(
            "HAVING holds of no rows, in a subquery that names columns of the query around it",
            at=span(node),
            hint="compare outside of it: WHERE (SELECT count(*) …) = 0",
            note="correlated_aggregates",
        )


def _by_equality(node: exp.Expr) -> Refused:
    return Refused(
        "an aggregated subquery is correlated by equalities only, unless it is of the same unit",
        at=span(node),
        hint="write WHERE inner_column = outer_column, of a key of the unit too",
        note="subqueries",
    )


def _is_null_of_null(condition: Expression) -> bool:
    """Whether `condition` is a comparison of columns that is never true of a NULL."""
    if isinstance(condition, And):
        return all(map(_is_null_of_null, condition.operands))
    return (
        isinstance(condition, Compare)
        and condition.op not in (Comparison.DISTINCT, Comparison.NOT_DISTINCT)
        and isinstance(condition.left, Column)
        and isinstance(condition.right, Column)
    )
