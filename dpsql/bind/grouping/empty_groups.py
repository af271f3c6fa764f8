"""Which releases leave out groups that may be empty: those that another operator reads.

A release of listed keys has a group for each of them; a group without rows shows numbers near 0.
That is right for the reader of an answer, but an operator above the release takes groups for rows:
an average over groups, a join, a rank, DISTINCT. There a group is a row only if its noisy count
shows that it has rows.

    SELECT avg(n) FROM (SELECT doctor_id, count(*) AS n FROM visits GROUP BY doctor_id) t
"""

from __future__ import annotations

from collections.abc import Container

from dpsql.bind.subquery.single_row import grouping_of
from dpsql.plan.operator import (
    Aggregate,
    Filter,
    Limit,
    MarkJoin,
    OuterJoin,
    Plan,
    Project,
    Release,
    Sort,
    Union,
)
from dpsql.plan.traversal import operators, replace_sources
from dpsql.structs import replace


def with_groups_that_have_rows(plan: Plan, values: Container[Plan]) -> Plan:
    """`plan`, where releases below other operators leave out groups that may be empty.

    A release whose groups are rows of the answer itself has all listed groups. So have the releases
    in `values`: scalar subqueries read one group of them at a time, and 0 serves as well as NULL.
    """

    def shown(part: Plan) -> Plan:
        """`part`, whose rows are the answer's."""
        match part:
            case Project() | Filter() | Sort() | Limit() | Union():
                return replace_sources(shown, part)
            case OuterJoin(left=left, right=right) if _value(right) in values:
                return replace(part, left=shown(left), right=read(right))
            case MarkJoin(source=source, relation=relation):
                return replace(part, source=shown(source), relation=read(relation))
            case Aggregate(aggregates=()):
                return replace_sources(listed, part)
            case Release():
                return listed(part) if not part.aggregates else replace_sources(read, part)
            case _:
                return replace_sources(read, part)

    def listed(part: Plan) -> Plan:
        """`part`, whose distinct rows are the answer's: without a condition they are all keys."""
        match part:
            case Project() | Sort() | Union():
                return replace_sources(listed, part)
            case Release(source=source, aggregates=()) if not any(
                isinstance(below, Filter) for below in operators(source)
            ):
                return replace_sources(read, part)
            case _:
                return read(part)

    def read(part: Plan) -> Plan:
        """`part`, whose rows another operator reads."""
        below = replace_sources(read, part)
        return below if part in values else _group_keys(below)

    return shown(plan)


def _value(plan: Plan) -> Plan:
    """The grouping that a scalar subquery's `plan` reads, below a LIMIT 1 on its one group."""
    below = plan.source if isinstance(plan, Limit) else plan
    return grouping_of(below) or below


def _group_keys(plan: Plan) -> Plan:
    """`plan`, if it is a release of listed keys, without the groups that may be empty."""
    if not isinstance(plan, Release) or plan.key_source is not None or not plan.keys:
        return plan
    return replace(plan, hides_empty_groups=True)
