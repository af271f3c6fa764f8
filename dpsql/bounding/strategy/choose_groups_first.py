"""Units' groups are drawn before their rows are summed, where there are few cells to draw from.

That a unit keeps 12 of its groups by their hashes is known only when all of its rows in each group
are summed: a table nearly as long as the rows, to be sorted. If a set of all cells fits a number,
a first look at the rows tells which groups each unit has:

revenue by month, of 84; a unit of 40 lines in 20 months keeps 12 of them

rows    each with its month's place in the unit's own order of all months
units   GROUP BY unit: how many rows, and the set of their places
light   rows of the 12 first places of a unit's, if it can't have too many rows: GROUP BY month
rest    those of other units, GROUP BY unit, month; scale, clamp, limit; then GROUP BY month

The order is drawn anew for each query: two numbers from the keyed hash of the unit make it, so that
a unit's choice depends on its own rows and the key alone. No two cells share a place, so that there
are no more groups among a unit's first 12 places than 12.
"""

from __future__ import annotations

from typing import Final

from dpsql.analysis.lineage.lineage import has_row_units
from dpsql.bounding.contribution_limit import cell_count
from dpsql.plan.bounded_release.bounded_release import (
    ByHash,
    ChooseGroupsFirst,
    Contributions,
    ExplainedPlan,
    LimitGroups,
)
from dpsql.plan.bounded_release.statistic import PairwiseDeviations, Statistic, UnitCount

MAX_RANK_PRIME: Final = 127
"""A set of them fits 128 bits. It is a prime: a·x + b of different x are different places."""


def choose_groups_first(limited: LimitGroups) -> ExplainedPlan | None:
    """The groups drawn first, if a hash chooses them and they are few."""
    if not isinstance(limited.limit, ByHash) or not is_sum_only(limited.contributions):
        return None
    cells = cell_count(limited.contributions)
    if cells is None or cells > MAX_RANK_PRIME:
        return None
    return ChooseGroupsFirst(
        MAX_RANK_PRIME
    ), f"groups: of all {cells}, each unit's are drawn before its rows are summed"


def is_sum_only(contributions: Contributions, *, of_units: bool = False) -> bool:
    """Nothing but sums over rows is asked of the groups that are kept; or numbers `of_units`."""
    if contributions.cell_choices or has_row_units(contributions.source):
        return False
    return all(
        _is_sum(s) or (of_units and isinstance(s.term, UnitCount)) for s in contributions.statistics
    )


def _is_sum(statistic: Statistic) -> bool:
    return statistic.is_row_sum and not isinstance(statistic.term, PairwiseDeviations)
