"""Units of few rows are told from all others by counting, before anything is summed for a unit.

Which of its groups a unit keeps is known once its rows are summed in each of them, and each group
is ranked by its hash. A unit of 12 rows has 12 groups at most, and as many rows in one of them:

revenue by supplier, of 10,000, in a quarter; 12 groups and 60 rows in each

rows    each with its unit and group
many    units of more than 12 rows
light   rows of other units: GROUP BY supplier
rest    rows of `many`: GROUP BY unit, supplier; scale, clamp, limit; then GROUP BY supplier

A unit is in one of both parts with all of its rows, and that depends on its own rows alone. In the
light one no sum would be scaled or clamped, and no group would be left out. Where units are counted
too, to tell which groups may be shown, each counts once in each of its groups, in either part.

It takes longer where most units are of `many`. How many rows a unit has is data, so that what the
schema says has to do: half of as many as count in all, of which a filter leaves its part of the
values that are declared.
"""

from __future__ import annotations

from fractions import Fraction

from dpsql.analysis.sensitivity import rows_per_group
from dpsql.bounding.contribution_limit import highest_fanout_table
from dpsql.bounding.strategy.choose_groups_first import is_sum_only
from dpsql.bounding.strategy.selectivity import selectivity
from dpsql.plan.bounded_release.bounded_release import (
    ByHash,
    Contributions,
    CountUnitsFirst,
    ExplainedPlan,
    LimitGroups,
)


def count_units_first(limited: LimitGroups) -> ExplainedPlan | None:
    """Rows counted first, if a hash chooses groups and most units have few."""
    terms = limited.contributions
    if not isinstance(limited.limit, ByHash):
        return None
    in_all = [] if limited.rows is None else [limited.rows]
    few = min(limited.limit.groups, rows_per_group(limited), *in_all)
    if not is_sum_only(terms, of_units=True) or _expected_rows(terms) > few:
        return None
    most = f"{few} row{'s' if few > 1 else ''}"
    return CountUnitsFirst(few), f"units of at most {most}: summed without regard to units"


def _expected_rows(contributions: Contributions) -> Fraction:
    """How many rows a unit is taken to have."""
    return selectivity(contributions.source) * highest_fanout_table(contributions).limits.rows / 2
