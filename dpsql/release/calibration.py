"""From a loss to the mechanism of each statistic, by public facts alone."""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias

from msgspec import Struct

from dpsql.analysis.sensitivity import Sensitivity
from dpsql.analysis.unit_contribution import rows_per_group
from dpsql.errors import Refused
from dpsql.plan.bounded_release.bounded_release import BoundedRelease
from dpsql.plan.bounded_release.estimator import ChosenValue, QuantileValue, of_drawn
from dpsql.privacy.accounting.loss import Accounting, PrivacyLoss
from dpsql.privacy.allocation.mwem_calibration import MwemParameters
from dpsql.privacy.mechanisms.noise.noise import Noise
from dpsql.privacy.mechanisms.residual_gaussian import MarginalNoise
from dpsql.privacy.mechanisms.selection.above_threshold import AboveThreshold
from dpsql.privacy.mechanisms.selection.threshold_stream import ThresholdStream
from dpsql.privacy.mechanisms.selection.weighted_majority import WeightedMajority
from dpsql.release.exact_answers import NoNoise
from dpsql.release.noise_choice.noise_candidate import NoiseCandidate, noise_candidates
from dpsql.release.selection_mechanism import SelectionMechanism, selection_mechanism
from dpsql.structs import replace

TableMechanism: TypeAlias = (
    MwemParameters | MarginalNoise | WeightedMajority | AboveThreshold | ThresholdStream
)
"""What makes a whole table in place of all others: a synopsis, a dashboard, decisions, alerts."""


class Measurement(Struct, frozen=True):
    """The mechanism of each statistic and each selection of a release, its threshold, and its loss.

    `threshold` is the least noisy count of units of a group that appears, None if all groups do.
    `loss` is the exact cost of these mechanisms: at most the loss that they were calibrated for.
    """

    mechanisms: tuple[Noise | NoNoise, ...]
    threshold: int | None
    loss: PrivacyLoss
    choosers: tuple[SelectionMechanism, ...] = ()
    table_mechanism: TableMechanism | None = None

    @property
    def noise(self) -> tuple[Noise, ...]:
        """The mechanisms that add noise: all, or none where randomised answers stay as they are."""
        return tuple(m for m in self.mechanisms if not isinstance(m, NoNoise))


def calibrate(
    bounded: BoundedRelease,
    sensitivity: Sensitivity,
    query_loss: PrivacyLoss,
    *,
    is_shown_by_row: bool = False,
) -> Measurement:
    """The mechanisms with the least expected error within `query_loss`.

    `is_shown_by_row`: nothing is computed of several of its groups, or of its groups and another's,
    so that their noise may be correlated. Sums and choices share the loss by the numbers of columns
    that they make. Under approx, Gaussian noise and partition selection share `query_loss.delta`.
    Raises Refused for keys without a domain where delta is 0.
    """
    if bounded.partition_count_index is not None and not query_loss.delta:
        raise Refused(
            "group keys without a declared domain need a delta to be selected by",
            hint="declare `values` of the keys in the schema, or a budget with delta > 0",
            note="partition_selection",
        )
    share, choices = _shares(bounded, query_loss)
    # Nothing but keys, all of them listed by public facts: nothing is measured.
    measurement = Measurement((), None, PrivacyLoss(query_loss.accounting, Fraction(0)))
    if bounded.contributions.statistics:
        measurement = _sum_mechanisms(bounded, sensitivity, share, is_shown_by_row=is_shown_by_row)
    choosers: list[SelectionMechanism] = []
    loss = measurement.loss
    rows = rows_per_group(bounded.limited)
    for selection, part in zip(bounded.contributions.cell_choices, choices, strict=True):
        mechanism, cost = selection_mechanism(selection, sensitivity, rows, part)
        choosers.append(mechanism)
        loss += cost
    return replace(measurement, choosers=tuple(choosers), loss=loss)


def exact_measurement(bounded: BoundedRelease, accounting: Accounting) -> Measurement:
    """The measurement without noise or loss, for a release that `local_only` has proved."""
    mechanisms = (NoNoise(),) * len(bounded.contributions.statistics)
    return Measurement(mechanisms, None, PrivacyLoss(accounting, Fraction(0)))


def has_error(
    bounded: BoundedRelease, sensitivity: Sensitivity, query_loss: PrivacyLoss, error: float
) -> bool:
    """Whether the sums that `calibrate` measures have an error of `error` at least.

    It sums something, and its groups aren't taken to be shown by row. Nothing is proved where no
    candidate has less.
    """
    share, _ = _shares(bounded, query_loss)
    candidates = noise_candidates(bounded, sensitivity, share, is_shown_by_row=False)
    if error <= min(one.error(bounded, sensitivity) for one in candidates):
        return True
    return error <= _best(candidates, bounded, sensitivity).error(bounded, sensitivity)


def _shares(
    bounded: BoundedRelease, query_loss: PrivacyLoss
) -> tuple[PrivacyLoss, list[PrivacyLoss]]:
    """What of `query_loss` sums have, with all of its delta, and what each choice of cells has."""
    choices = [selection.choices for selection in bounded.contributions.cell_choices]
    formulas = {output.estimator for output in bounded.outputs}
    summed_formulas = sum(
        not isinstance(of_drawn(formula), QuantileValue | ChosenValue) for formula in formulas
    )
    summed = max(summed_formulas, 1) if bounded.contributions.statistics else 0
    total = max(summed + sum(choices), 1)

    def part(columns: int, delta: Fraction) -> PrivacyLoss:
        return PrivacyLoss(
            query_loss.accounting, query_loss.amount * Fraction(columns, total), delta
        )

    return part(summed, query_loss.delta), [part(number, Fraction(0)) for number in choices]


def _sum_mechanisms(
    bounded: BoundedRelease,
    sensitivity: Sensitivity,
    query_loss: PrivacyLoss,
    *,
    is_shown_by_row: bool,
) -> Measurement:
    """The candidate of the least error, once its loss is proved."""
    candidates = noise_candidates(bounded, sensitivity, query_loss, is_shown_by_row=is_shown_by_row)
    best = _best(candidates, bounded, sensitivity)
    return Measurement(best.noise, best.threshold, best.loss)


def _best(
    candidates: list[NoiseCandidate], bounded: BoundedRelease, sensitivity: Sensitivity
) -> NoiseCandidate:
    while True:
        best, *others = candidates
        if others:
            best = min(candidates, key=lambda one: one.error(bounded, sensitivity))
        if best.proved is None:
            return best
        candidates[candidates.index(best)] = best.proved()
