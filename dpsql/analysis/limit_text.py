"""The operator that limits a unit's groups, as text."""

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
)


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
