"""The join of each outer row with one row: of a scalar subquery, or of an aggregate in LATERAL."""

from __future__ import annotations

from sqlglot import exp

from dpsql.analysis.lineage.lineage import unit
from dpsql.bind.context import BoundQuery, Context
from dpsql.bind.proof.join_ownership import require_subquery_unit
from dpsql.bind.subquery.single_row import listed, value_of_no_rows
from dpsql.bind.subquery.subquery_kind import has_groups
from dpsql.bind.syntax.parse import span
from dpsql.errors import Refused
from dpsql.plan.expression import (
    Case,
    Column,
    Expression,
    IsNull,
    When,
    conjunction,
    equated,
    matched,
)
from dpsql.plan.operator import Aggregate, OuterJoin, OuterKind, Output, Plan, Values
from dpsql.plan.output_columns import output_columns
from dpsql.plan.traversal import bottom_up, columns, renamed_columns
from dpsql.structs import replace


def with_one_row(node: exp.Expr, source: Plan, inner: BoundQuery, context: Context) -> OuterJoin:
    """The outer rows `source`, each joined to the one row of `inner` for it, or to NULLs."""
    check_there(node, source, inner, inner.correlated)
    require_subquery_unit(node, source, inner.plan, matched(inner.correlated))
    answers = replace(inner, plan=answering(inner, source, context, node))
    relation = listed(answers, source, equated(inner.correlated))
    return OuterJoin(OuterKind.LEFT, source, relation, inner.correlated, unit(source))


def one_value(query: exp.Expr, inner: BoundQuery, value: Column) -> Expression:
    """`value` of the joined row; where no group is joined, its value over no rows, as count 0."""
    is_filtered = has_groups(query) or query.unnest().args.get("having") is not None
    empty = None if is_filtered or not inner.correlated else value_of_no_rows(inner.plan, value)
    if empty is None or empty.value is None:
        return value
    inside = frozenset(output_columns(inner.plan))
    equal = equated(inner.correlated)
    keys = [side for pair in equal for side in pair if columns(side) & inside]
    if not keys:  # the conditions read outer columns alone: 0 = g.n
        return Case((When(conjunction(inner.correlated), value),), empty, value.type)
    return Case((When(IsNull(keys[0]), empty),), value, value.type)


def check_there(
    node: exp.Expr, source: Plan, inner: BoundQuery, conditions: tuple[Expression, ...]
) -> None:
    """Refuse `conditions` on columns that the outer rows, which may be groups, don't have."""
    read = columns(*conditions, *(output.expression for output in inner.subquery_columns))
    if read - {*output_columns(source), *output_columns(inner.plan)}:
        raise Refused(
            "a subquery beside groups names a column of their rows",
            at=span(node),
            hint="group first: SELECT … FROM (SELECT key, count(*) AS n … GROUP BY key) WHERE …",
            note="subqueries",
        )


def answering(inner: BoundQuery, source: Plan, context: Context, node: exp.Expr) -> Plan:
    """The subquery's rows, with the values of the outer rows `source` for `subquery_columns`."""
    if not inner.subquery_columns:
        return inner.plan
    fresh: dict[Column, Column] = {}

    def renamed(column: Column) -> Column:
        if column not in fresh:
            fresh[column] = context.names.like(column)
        return fresh[column]

    # The outer rows are joined to these rows, too: new ids tell the copies' columns apart.
    copied = renamed_columns(renamed, source)
    context.cte_size.add(copied, node)
    keys = tuple(
        Output(o.column, fresh.get(_column(o), _column(o))) for o in inner.subquery_columns
    )
    values = Aggregate(copied, keys, ())
    placeholder = Values(tuple(o.column for o in inner.subquery_columns), ())
    return bottom_up(lambda plan: values if plan == placeholder else plan, inner.plan)


def _column(output: Output) -> Column:
    assert isinstance(output.expression, Column)
    return output.expression
