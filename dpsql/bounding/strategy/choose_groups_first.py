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
from dpsql.bounding.contribution_limit import combined_cells
from dpsql.plan.bounded_release.bounded_release import ByHash, Chosen, Draw, LimitGroups, Terms
from dpsql.plan.bounded_release.statistic import Deviations, Presence, Statistic

PLACES: Final = 127
"""A set of them fits 128 bits. It is a prime: a·x + b of different x are different places."""


def draw_groups(limited: LimitGroups) -> Chosen | None:
    """The groups drawn first, if a hash chooses them and they are few."""
    if not isinstance(limited.limit, ByHash) or not asks_for_sums(limited.terms):
        return None
    cells = combined_cells(limited.terms)
    if cells is None or cells > PLACES:
        return None
    return Draw(PLACES), f"groups: of all {cells}, each unit's are drawn before its rows are summed"


def asks_for_sums(terms: Terms, *, of_units: bool = False) -> bool:
    """Nothing but sums over rows is asked of the groups that are kept; or numbers `of_units`."""
    if terms.selections or has_row_units(terms.source):
        return False
    return all(_is_sum(s) or (of_units and isinstance(s.term, Presence)) for s in terms.statistics)


def _is_sum(statistic: Statistic) -> bool:
    return statistic.is_of_rows and not isinstance(statistic.term, Deviations)
