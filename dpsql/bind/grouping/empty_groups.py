"""Which releases leave out the groups that may be empty: those that something else reads.

A release of listed keys shows each of them, with the error that its numbers have: that there are no
rows is said by a number near 0. What reads it takes groups for rows: an average over groups, a
join, a rank, DISTINCT. There a group is a row only if its noisy count tells that it has some.

    SELECT avg(n) FROM (SELECT doctor_id, count(*) AS n FROM visits GROUP BY doctor_id) t
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace

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


def with_groups_that_have_rows(plan: Plan, values: Container[Plan]) -> Plan:
    """`plan`, whose answer has all listed groups where it is itself a release.

    `values` are read for a group at a time by scalar subqueries, for which 0 is as good as none.
    """

    def shown(part: Plan) -> Plan:
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
        """DISTINCT keys are all that there are where nothing is asked of private rows."""
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
        below = replace_sources(read, part)
        return below if part in values else _group_keys(below)

    return shown(plan)


def _value(plan: Plan) -> Plan:
    """What a scalar subquery reads, below the LIMIT of one that has a row anyway."""
    below = plan.source if isinstance(plan, Limit) else plan
    return grouping_of(below) or below


def _group_keys(plan: Plan) -> Plan:
    if not isinstance(plan, Release) or plan.key_source is not None or not plan.keys:
        return plan
    return replace(plan, hides_empty_groups=True)
