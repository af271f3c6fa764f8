"""The operator that limits a unit's groups, and the caps on its sums in them, as text."""

from __future__ import annotations

from typing import assert_never

from dpsql.plan.bounded_release.bounded_release import (
    ByDomain,
    ByHash,
    ByNorm,
    ByRank,
    ByStoredRank,
    ByUnit,
    GroupLimit,
    LimitGroups,
)
from dpsql.plan.bounded_release.statistic import CappedSum, Discretized
from dpsql.plan.expression_text import describe, describe_number


def describe_limit(limit: GroupLimit, rows: int | None = None) -> str:
    """The operator that limits a unit's groups, and its rows in all groups if these are limited."""
    few = "" if rows is None else f"; rows={rows} in all"
    match limit:
        case ByHash(groups=groups):
            return f"LimitGroups({groups}, by keyed hash{few})"
        case ByRank(groups=groups):
            return f"LimitGroups({groups}, by keyed rank{few})"
        case ByStoredRank(groups=groups):
            return f"LimitGroups({groups}, by stored rank{few})"
        case ByDomain(groups=groups):
            return f"LimitGroups({groups}, all there are{few})"
        case ByUnit(tables=tables):
            return f"LimitGroups(1, the unit determines the keys: verified {', '.join(tables)})"
        case ByNorm(groups=groups, cells=cells, order=order):
            return f"LimitGroups({groups}, all {cells} scaled to their L{order} norm)"
        case missing:
            assert_never(missing)


def describe_caps(limited: LimitGroups) -> str:
    """The caps on a unit's sums in a group, each once; empty where there are none."""
    texts: dict[str, None] = {}
    for statistic in limited.contributions.statistics:
        match statistic.term:
            case CappedSum(value=value, cap=cap):
                worth = describe_number(cap * value.worth)
                texts[f", {describe_summed(value)} within ±{worth}"] = None
            case _:
                pass  # nothing but rows limits it
    return "".join(texts)


def describe_summed(value: Discretized) -> str:
    """What is summed, without what its own expression scales or multiplies it by."""
    if value.scaled is not None:
        return value.scaled.column.name
    if value.factored is not None:
        return f"{describe(value.factored.argument)} by {describe(value.factored.key)}"
    return describe(value.argument)
