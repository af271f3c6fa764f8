"""What unlisted keys are chosen by: units in a group, what these weigh, or rows that are scaled."""

from __future__ import annotations

from dpsql.analysis.stability import limited_stability
from dpsql.bounding.options import ReleaseOptions
from dpsql.bounding.statistics.statistics import StatisticsBuilder
from dpsql.plan.bounded_release.bounded_release import Contributions, Limited
from dpsql.plan.bounded_release.statistic import RowCount, Statistic, UnitCount
from dpsql.plan.bounded_release.unit_weight import UnitWeight


def key_count(
    builder: StatisticsBuilder, draft: Limited, options: ReleaseOptions, *, are_scaled: bool
) -> int:
    """The index of the statistic that decides which keys are shown, among those of `builder`.

    Units are weighed where that is asked for, and their number isn't needed for anything else: a
    second statistic would take a part of the loss from the first. For the same reason it is the
    count of rows where that is asked, and rows `are_scaled`, unless it is said how many units a
    group has at least. `draft` has the release's limits.
    """
    rows = Statistic(RowCount(), None)
    if are_scaled and not options.weighted_keys and options.min_units is None:
        return builder.statistics.index(rows)
    groups = limited_stability(draft, 1).groups_per_unit
    counted = Statistic(RowCount() if builder.per_unit == 1 else UnitCount(), None)
    is_needed = counted in builder.statistics or options.min_units is not None
    if not options.weighted_keys or is_needed or groups == 1:
        return builder.presence()
    builder.statistics.append(Statistic(UnitWeight(groups), None))
    return len(builder.statistics) - 1


def weighing_notes(terms: Contributions) -> tuple[str, ...]:
    """What is told of units' weights, where keys are chosen by them."""
    numbers = [s.term.groups for s in terms.statistics if isinstance(s.term, UnitWeight)]
    return tuple(
        f"keys are chosen by weights: a unit in n groups weighs √({groups}/n) times what one in"
        f" {groups} does"
        for groups in numbers
    )
