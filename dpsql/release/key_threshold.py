"""The threshold from which on unlisted keys are shown, and what it and noise lose together."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dpsql.analysis.sensitivity import Sensitivity
from dpsql.analysis.unit_contribution import rows_per_group
from dpsql.plan.bounded_release.bounded_release import BoundedRelease
from dpsql.plan.bounded_release.unit_weight import UnitWeight
from dpsql.privacy.accounting.loss import PrivacyLoss
from dpsql.privacy.mechanisms.noise.noise import Noise
from dpsql.privacy.partition_selection import selection_delta
from dpsql.privacy.partition_selection import threshold as threshold_of
from dpsql.release.noise_loss import rho_of_move


def key_threshold(
    bounded: BoundedRelease, sensitivity: Sensitivity, mechanisms: Sequence[Noise], delta: Fraction
) -> int | None:
    """The τ for groups of changed units alone: `units` of them in each, in units · l0 groups.

    None where all keys are listed. Units that weigh more in fewer groups have the largest τ of any
    number d of groups: of k units' new groups give each to the one in the fewest of all groups of
    those that are in it. It weighs no more than k times what this unit does, and a unit in d is
    given d of them at most. The groups of each unit all stay hidden with probability (1 - δ)^(1/k).
    """
    index = bounded.partition_count_index
    if index is None:
        return None
    return max(
        threshold_of(mechanisms[index], groups=groups, per_group=largest, delta=delta)
        for groups, largest in _alone(bounded, sensitivity, index)
    )


def shares_delta(
    bounded: BoundedRelease,
    sensitivity: Sensitivity,
    mechanisms: Sequence[Noise],
    *,
    threshold: int,
    rho: Fraction,
    loss: PrivacyLoss,
) -> bool:
    """Noise of `rho`, and keys that are shown from `threshold` on, together lose `loss` at most.

    False where that isn't proved, as of units' weights, which depend on their number of groups.
    """
    index = bounded.partition_count_index
    if index is None or isinstance(bounded.contributions.statistics[index].term, UnitWeight):
        return index is None
    together = selection_delta(
        mechanisms[index].tail(threshold - sensitivity.per_group[index]),
        groups=sensitivity.groups * sensitivity.units,
        rho=rho,
        rho_per_group=sensitivity.l2.per_group(lambda p, c: rho_of_move(mechanisms[p], c)),
        epsilon=loss.amount,
    )
    return together <= loss.delta


def threshold_in_units(bounded: BoundedRelease, threshold: int | None) -> int | None:
    """From how many units on a key is shown, all of which are in as many groups as they may be.

    Where rows are counted, by which keys are chosen then, each has one row there.
    """
    if threshold is None or bounded.partition_count_index is None:
        return threshold
    statistic = bounded.contributions.statistics[bounded.partition_count_index]
    return (
        -(-threshold // statistic.magnitude)
        if isinstance(statistic.term, UnitWeight)
        else threshold
    )


def is_threshold_of_rows(bounded: BoundedRelease) -> bool:
    """Whether keys are chosen by a number of rows, of which a unit may have several in a group."""
    index = bounded.partition_count_index
    if index is None or rows_per_group(bounded.limited) == 1:
        return False
    return bounded.contributions.statistics[index].is_row_count


def _alone(bounded: BoundedRelease, sensitivity: Sensitivity, index: int) -> list[tuple[int, int]]:
    """In how many groups changed units can be alone, and what they count for in each, at most."""
    term, units = bounded.contributions.statistics[index].term, sensitivity.units
    if isinstance(term, UnitWeight):
        return [(units * groups, units * weight) for groups, weight in term.weights]
    return [(sensitivity.groups * units, sensitivity.per_group[index])]
