"""From a loss to the mechanism of each statistic, by public facts alone."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TypeAlias, assert_never

from msgspec import Struct

from dpsql.analysis.sensitivity import Sensitivity
from dpsql.analysis.unit_contribution import rows_per_group
from dpsql.errors import Refused
from dpsql.plan.bounded_release.bounded_release import BoundedRelease, integer_parts
from dpsql.plan.bounded_release.estimator import ChosenValue, QuantileValue, of_drawn
from dpsql.privacy.accounting.loss import Accounting, PrivacyLoss
from dpsql.privacy.accounting.zcdp_conversion import rho_of_epsilon
from dpsql.privacy.allocation.joint_allocation import split_gaussian_jointly, split_laplace_jointly
from dpsql.privacy.allocation.mwem_calibration import MwemParameters
from dpsql.privacy.allocation.noise_allocation import (
    laplace_where_less,
    split_gaussian,
    split_laplace,
)
from dpsql.privacy.mechanisms.noise.noise import IndependentNoise, Noise
from dpsql.privacy.mechanisms.residual_gaussian import MarginalNoise
from dpsql.privacy.mechanisms.selection.above_threshold import AboveThreshold
from dpsql.privacy.mechanisms.selection.weighted_majority import WeightedMajority
from dpsql.release.exact_answers import NoNoise
from dpsql.release.expected_error import shown_error, weight_choices
from dpsql.release.joint_noise import correlated_choices, joint_choices, one_direction_choices
from dpsql.release.key_threshold import key_threshold, shares_delta
from dpsql.release.noise_loss import (
    of_parts,
    rho_of_move,
    rounded_gaussian_noise,
    with_rounded_laws,
)
from dpsql.release.selection_mechanism import SelectionMechanism, selection_mechanism
from dpsql.structs import replace

TableMechanism: TypeAlias = MwemParameters | MarginalNoise | WeightedMajority | AboveThreshold
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
    chosen = sum(selection.choices for selection in bounded.contributions.cell_choices)
    formulas = {output.estimator for output in bounded.outputs}
    summed_formulas = sum(
        not isinstance(of_drawn(formula), QuantileValue | ChosenValue) for formula in formulas
    )
    summed = max(summed_formulas, 1) if bounded.contributions.statistics else 0
    # Nothing but keys, all of them listed by public facts: nothing is measured.
    measurement = Measurement((), None, PrivacyLoss(query_loss.accounting, Fraction(0)))
    if summed:
        part = query_loss.amount * Fraction(summed, summed + chosen)
        share = PrivacyLoss(query_loss.accounting, part, query_loss.delta)
        measurement = _sum_mechanisms(bounded, sensitivity, share, is_shown_by_row=is_shown_by_row)
    choosers: list[SelectionMechanism] = []
    loss = measurement.loss
    for selection in bounded.contributions.cell_choices:
        part = query_loss.amount * Fraction(selection.choices, summed + chosen)
        rows = rows_per_group(bounded.limited)
        mechanism, cost = selection_mechanism(
            selection, sensitivity, rows, PrivacyLoss(query_loss.accounting, part)
        )
        choosers.append(mechanism)
        loss += cost
    return replace(measurement, choosers=tuple(choosers), loss=loss)


def exact_measurement(bounded: BoundedRelease, accounting: Accounting) -> Measurement:
    """The measurement without noise or loss, for a release that `local_only` has proved."""
    mechanisms = (NoNoise(),) * len(bounded.contributions.statistics)
    return Measurement(mechanisms, None, PrivacyLoss(accounting, Fraction(0)))


def _sum_mechanisms(
    bounded: BoundedRelease,
    sensitivity: Sensitivity,
    query_loss: PrivacyLoss,
    *,
    is_shown_by_row: bool,
) -> Measurement:
    candidates: list[Measurement] = []
    for costs in weight_choices(bounded, sensitivity):
        candidates += _candidates(bounded, sensitivity, query_loss, costs)
        if is_shown_by_row:
            candidates += _correlated(bounded, sensitivity, query_loss, costs)
    if query_loss.accounting not in {Accounting.ZCDP, Accounting.GDP}:
        # ε-DP is worth ½ε² of zCDP at most, for which Gaussian noise has less variance; or 1.5·ε²
        # of μ² at small ε, where that of Gaussian noise of this ρ is ε².
        loss = replace(query_loss, delta=Fraction(0))
        candidates += [
            Measurement(mechanisms, None, loss)
            for mechanisms in joint_choices(bounded, sensitivity, loss.amount)
        ]
        if is_shown_by_row:
            candidates += [
                Measurement(mechanisms, None, loss)
                for mechanisms in one_direction_choices(bounded, sensitivity, loss.amount)
            ]
    if len(candidates) == 1:
        return candidates[0]
    return min(candidates, key=lambda m: shown_error(bounded, sensitivity, m.noise, m.threshold))


def _candidates(
    bounded: BoundedRelease,
    sensitivity: Sensitivity,
    query_loss: PrivacyLoss,
    costs: tuple[float, ...],
) -> Iterator[Measurement]:
    """The mechanisms within `query_loss` that the weights `costs` divide it for."""
    match query_loss.accounting:
        case Accounting.PURE:
            yield _laplace(bounded, sensitivity, query_loss, costs)
        case Accounting.ZCDP:
            rho, delta = query_loss.amount, query_loss.delta
            yield _gaussian(bounded, sensitivity, query_loss, costs, rho, delta)
        case Accounting.GDP:
            yield _rounded_gaussian(bounded, sensitivity, query_loss, costs)
        case Accounting.APPROX:
            yield _laplace(bounded, sensitivity, query_loss, costs)
            if query_loss.delta:
                yield _with_one_delta(bounded, sensitivity, query_loss, costs)
        case missing:
            assert_never(missing)


def _correlated(
    bounded: BoundedRelease,
    sensitivity: Sensitivity,
    query_loss: PrivacyLoss,
    costs: tuple[float, ...],
) -> Iterator[Measurement]:
    """The mechanisms with a shared part within `query_loss`, if that has a ρ or μ²."""
    match query_loss.accounting:
        case Accounting.PURE:
            return
        case Accounting.ZCDP:
            for noise, rho in correlated_choices(bounded, sensitivity, costs, query_loss.amount):
                yield Measurement(noise, None, PrivacyLoss(Accounting.ZCDP, rho))
        case Accounting.GDP:
            half = query_loss.amount / 2
            for noise, rho in correlated_choices(bounded, sensitivity, costs, half):
                loss = PrivacyLoss(Accounting.GDP, 2 * rho)
                yield Measurement(with_rounded_laws(noise), None, loss)
        case Accounting.APPROX:
            if query_loss.delta:
                rho = rho_of_epsilon(query_loss.amount, query_loss.delta)
                for noise, _ in correlated_choices(bounded, sensitivity, costs, rho):
                    yield Measurement(noise, None, query_loss)  # (ε, δ) as converted from ρ
        case missing:
            assert_never(missing)


def _with_one_delta(
    bounded: BoundedRelease,
    sensitivity: Sensitivity,
    query_loss: PrivacyLoss,
    costs: tuple[float, ...],
) -> Measurement:
    """Gaussian noise at (ε, δ), with a threshold at the same δ if that is proved, else at half."""
    rho = rho_of_epsilon(query_loss.amount, query_loss.delta)
    whole = _gaussian(bounded, sensitivity, query_loss, costs, rho, query_loss.delta)
    if whole.threshold is None or shares_delta(
        bounded,
        sensitivity,
        whole.noise,
        threshold=whole.threshold,
        rho=rho,
        loss=query_loss,
    ):
        return whole
    half = query_loss.delta / 2
    rho = rho_of_epsilon(query_loss.amount, half)
    return _gaussian(bounded, sensitivity, query_loss, costs, rho, half)


def _laplace(
    bounded: BoundedRelease,
    sensitivity: Sensitivity,
    query_loss: PrivacyLoss,
    costs: tuple[float, ...],
) -> Measurement:
    norm = sensitivity.l1
    if norm.independent_bounds is not None:
        mechanisms = split_laplace(
            norm.independent_bounds, costs, norm.groups_of_each, query_loss.amount
        )
    else:
        mechanisms = split_laplace_jointly(norm.corners, costs, norm.groups, query_loss.amount)
    epsilon = norm.total(lambda index, change: mechanisms[index].epsilon(change))
    if epsilon > query_loss.amount:
        raise ArithmeticError("the noise split passed its grant")
    noise = of_parts(bounded, mechanisms)
    selects = bounded.partition_count_index is not None
    delta = query_loss.delta if selects else Fraction(0)
    return Measurement(
        noise,
        key_threshold(bounded, sensitivity, noise, delta),
        PrivacyLoss(query_loss.accounting, epsilon, delta),
    )


def _gaussian(
    bounded: BoundedRelease,
    sensitivity: Sensitivity,
    query_loss: PrivacyLoss,
    costs: tuple[float, ...],
    rho: Fraction,
    selection_delta: Fraction,
) -> Measurement:
    norm = sensitivity.l2
    if norm.independent_bounds is not None:
        gaussian = split_gaussian(norm.independent_bounds, costs, norm.groups_of_each, rho)
        split: tuple[IndependentNoise, ...] = gaussian
        if norm.independent_bounds == sensitivity.per_group and integer_parts(bounded.limited) == 1:
            # How far each statistic may move in a group, not only a bound on sums of squares: the
            # loss of Laplace noise is convex in the move, and 0 at 0, so that any moves that are as
            # large in all lose no more than the largest ones in as few groups as there can be.
            # Of moves whose squares alone are bounded together, many small ones lose more: 100
            # groups that move by a tenth as far as one does lose up to ten times as much.
            split = laplace_where_less(gaussian, norm.independent_bounds)
    else:
        split = split_gaussian_jointly(norm.corners, costs, norm.groups, rho)
    mechanisms = of_parts(bounded, split)
    spent = norm.total(lambda index, change: rho_of_move(mechanisms[index], change))
    if spent > rho:
        raise ArithmeticError("the noise split passed its grant")
    if query_loss.accounting is Accounting.APPROX:
        loss = query_loss  # (ε, δ) as converted from ρ at its share of δ
    else:
        delta = selection_delta if bounded.partition_count_index is not None else Fraction(0)
        loss = PrivacyLoss(Accounting.ZCDP, spent, delta)
    return Measurement(
        mechanisms, key_threshold(bounded, sensitivity, mechanisms, selection_delta), loss
    )


def _rounded_gaussian(
    bounded: BoundedRelease,
    sensitivity: Sensitivity,
    query_loss: PrivacyLoss,
    costs: tuple[float, ...],
) -> Measurement:
    noise, spent = rounded_gaussian_noise(bounded, sensitivity, costs, query_loss.amount)
    delta = query_loss.delta if bounded.partition_count_index is not None else Fraction(0)
    threshold = key_threshold(bounded, sensitivity, noise, delta)
    return Measurement(noise, threshold, PrivacyLoss(Accounting.GDP, spent, delta))
