"""Scalar subqueries: whether they have one row at most, and which value they have over no rows."""

from __future__ import annotations

from dpsql.analysis.domains.column_domains import column_domains
from dpsql.analysis.domains.expression_domain import domain
from dpsql.analysis.domains.known_values import constant
from dpsql.analysis.lineage.functional_dependency import declared, unique_key
from dpsql.analysis.lineage.lineage import Visibility, visibility
from dpsql.analysis.lineage.public_keys import public_key_source
from dpsql.bind.context import BoundQuery
from dpsql.bind.proof.join_ownership import Pair
from dpsql.plan.aggregate import AggregateFunction, AggregateOutput
from dpsql.plan.expression import Column, Expression, Literal
from dpsql.plan.operator import Aggregate, Filter, Output, Plan, Project, Release, Sort
from dpsql.plan.output_columns import output_columns
from dpsql.plan.traversal import bottom_up, columns, rewrite_top_down
from dpsql.structs import replace


def single(inner: BoundQuery, equal: list[Pair]) -> bool:
    """Whether an outer row meets one row of `inner` at most, as `equal` fixes all of its keys."""
    fixed = {side for pair in equal for side in pair if isinstance(side, Column)}
    if visibility(inner.plan) is Visibility.PRIVATE:
        grouped = grouping_of(inner.plan)
        inside = frozenset(output_columns(inner.plan))
        correlated = {side for c in inner.correlated for side in columns(c) & inside}
        return grouped is not None and bool(correlated) and len(grouped.keys) == len(correlated)
    key = unique_key(inner.plan, declared)
    return key is not None and key <= fixed


def has_one_group(plan: Plan) -> bool:
    """Whether `plan` groups by keys of one possible value, and so has one row at most.

    Groups of private rows don't count: each unit has one of its own.
    """
    while isinstance(plan, Project | Filter | Sort):
        plan = plan.source
    if not isinstance(plan, Aggregate | Release) or visibility(plan) is Visibility.PRIVATE:
        return False
    known = column_domains(plan.source)
    domains = [domain(key.expression, known) for key in plan.keys]
    return all(not each.nullable and len(each.values or ()) == 1 for each in domains)


def grouping_of(plan: Plan) -> Aggregate | Release | None:
    """The operator that groups the rows of `plan`, below projections; None if there is none."""
    while isinstance(plan, Project):
        plan = plan.source
    return plan if isinstance(plan, Aggregate | Release) else None


def listed(inner: BoundQuery, source: Plan, equal: list[Pair]) -> Plan:
    """The rows of `inner`, whose release lists exactly the keys that public outer rows have."""
    grouped = grouping_of(inner.plan)
    if not isinstance(grouped, Release) or len(grouped.keys) != len(equal) or not equal:
        return inner.plan
    inside = set(inner.columns)
    keys = tuple(
        Output(key.column, outer)
        for key, outer in zip(
            grouped.keys, (b if a in inside else a for a, b in equal), strict=True
        )
    )
    key_source = public_key_source(source, keys)
    if key_source is None or key_source.includes_null:
        return inner.plan
    with_key_source = replace(grouped, key_source=key_source.plan)
    return bottom_up(lambda plan: with_key_source if plan == grouped else plan, inner.plan)


def value_of_no_rows(plan: Plan, value: Expression) -> Literal | None:
    """What `value` of an aggregated `plan` is over no rows, if that is known: 1 + count(*) is 1."""
    while isinstance(plan, Project):
        meaning: dict[Expression, Expression] = {o.column: o.expression for o in plan.outputs}
        value, plan = rewrite_top_down(meaning.get, value), plan.source
    if not isinstance(plan, Aggregate | Release):
        return None
    return constant(value, {a.column: of_no_rows(a) for a in plan.aggregates})


def of_no_rows(aggregate: AggregateOutput) -> Literal:
    """The value of `aggregate` over no rows."""
    is_count = aggregate.call.function is AggregateFunction.COUNT
    return Literal(0 if is_count else None, aggregate.column.type)
