"""Whether unlisted keys are chosen by units, or by the rows that are counted beside them anyway."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from dpsql.analysis.sensitivity import Sensitivity, sensitivity
from dpsql.plan.bounded_release.bounded_release import BoundedRelease, LimitGroups
from dpsql.plan.bounded_release.estimator import row_count_index, statistic_indices
from dpsql.plan.bounded_release.statistic import Statistic, UnitCount
from dpsql.privacy.accounting.loss import PrivacyLoss
from dpsql.privacy.distance import NeighborDistance
from dpsql.release.calibration import calibrate, has_error
from dpsql.release.noise_choice.expected_error import shown_error
from dpsql.structs import replace

_ERROR_RATIO: Final = 2.0
"""How many times less the error by rows has to be: of units with a row each, a group needs as many
as its threshold has rows, and that is hidden for no small gain."""


class KeyCounts(Struct, frozen=True):
    """A release whose keys are chosen by units, and the same `by_rows`, whatever they may lose."""

    changes: Sensitivity
    by_rows: BoundedRelease
    changes_by_rows: Sensitivity


def key_counts(bounded: BoundedRelease, distance: NeighborDistance) -> KeyCounts | None:
    """Both ways to choose the keys of `bounded`; None where there is but one."""
    by_rows = _keys_by_rows(bounded)
    if by_rows is None:
        return None
    return KeyCounts(sensitivity(bounded, distance), by_rows, sensitivity(by_rows, distance))


def choose_key_count(
    bounded: BoundedRelease, ways: KeyCounts | None, loss: PrivacyLoss
) -> BoundedRelease:
    """`bounded`, or the same with unlisted keys chosen by its count of rows, for less error.

    By public facts alone; `ways` are those of `bounded`. A count of units that nothing shows takes
    a part of `loss` from what is shown. A threshold on rows has to hide as many as one unit may
    have in a group, and costs none: of 30 rows in all, in up to 30 groups, Laplace noise on all of
    them has a scale of 30 then.
    """
    if ways is None or not loss.delta:
        return bounded
    by_rows, changes = ways.by_rows, ways.changes_by_rows
    measured = calibrate(by_rows, changes, loss)
    wanted = _ERROR_RATIO * shown_error(by_rows, changes, measured.noise, measured.threshold)
    return by_rows if has_error(bounded, ways.changes, loss, wanted) else bounded


def _keys_by_rows(bounded: BoundedRelease) -> BoundedRelease | None:
    """`bounded` without its count of units; None where that is read, or no rows are counted."""
    index, limited = bounded.partition_count_index, bounded.limited
    if index is None or bounded.min_units is not None or not isinstance(limited, LimitGroups):
        return None
    *others, last = limited.contributions.statistics
    rows = [row for row, statistic in enumerate(others) if statistic.is_row_count]
    is_alone = index == len(others) and last == Statistic(UnitCount(), None)
    estimators = [output.estimator for output in bounded.outputs]
    is_read = any(index in (*statistic_indices(e), row_count_index(e)) for e in estimators)
    if not rows or not is_alone or is_read:
        return None
    clamped = limited.source
    terms = replace(limited.contributions, statistics=tuple(others))
    source = replace(clamped, source=replace(clamped.source, source=terms))
    return replace(bounded, limited=replace(limited, source=source), partition_count_index=rows[0])
