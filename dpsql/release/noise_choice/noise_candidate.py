"""The ways to add noise to a release's sums within a loss: `calibration` takes the best of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import assert_never

from msgspec import Struct

from dpsql.analysis.sensitivity import Sensitivity
from dpsql.plan.bounded_release.bounded_release import BoundedRelease, integer_parts
from dpsql.privacy.accounting.loss import Accounting, PrivacyLoss
from dpsql.privacy.accounting.zcdp_conversion import rho_of_epsilon
from dpsql.privacy.allocation.joint_allocation import split_gaussian_jointly, split_laplace_jointly
from dpsql.privacy.allocation.noise_allocation import (
    laplace_where_less,
    split_gaussian,
    split_laplace,
)
from dpsql.privacy.mechanisms.noise.noise import IndependentNoise, Noise
from dpsql.release.joint_noise import correlated_choices, joint_choices, one_direction_choices
from dpsql.release.key_threshold import key_threshold, shares_delta
from dpsql.release.noise_choice.expected_error import shown_error, weight_choices
from dpsql.release.noise_loss import (
    of_parts,
    rho_of_move,
    rounded_gaussian_noise,
    with_rounded_laws,
)
from dpsql.structs import replace


class NoiseCandidate(Struct, frozen=True):
    """Noise for each statistic, from which noisy count on groups appear, and its exact loss.

    Where it takes long to prove that the loss is as said, `proved` is the candidate that is: this
    one, or another in its place, of no less error.
    """

    noise: tuple[Noise, ...]
    threshold: int | None
    loss: PrivacyLoss
    proved: Callable[[], NoiseCandidate] | None = None

    def error(self, bounded: BoundedRelease, sensitivity: Sensitivity) -> float:
        """The expected error, by which candidates are compared."""
        return shown_error(bounded, sensitivity, self.noise, self.threshold)


def noise_candidates(
    bounded: BoundedRelease,
    sensitivity: Sensitivity,
    query_loss: PrivacyLoss,
    *,
    is_shown_by_row: bool,
) -> list[NoiseCandidate]:
    """The ways within `query_loss`, at least one; `is_shown_by_row` is that of `calibrate`."""
    candidates: list[NoiseCandidate] = []
    for costs in weight_choices(bounded, sensitivity):
        candidates += _independent(bounded, sensitivity, query_loss, costs)
        if is_shown_by_row:
            candidates += _correlated(bounded, sensitivity, query_loss, costs)
    if query_loss.accounting not in {Accounting.ZCDP, Accounting.GDP}:
        # ε-DP is worth ½ε² of zCDP at most, for which Gaussian noise has less variance; or 1.5·ε²
        # of μ² at small ε, where that of Gaussian noise of this ρ is ε².
        loss = replace(query_loss, delta=Fraction(0))
        joint: list[tuple[Noise, ...]] = [*joint_choices(bounded, sensitivity, loss.amount)]
        if is_shown_by_row:
            joint += one_direction_choices(bounded, sensitivity, loss.amount)
        candidates += [NoiseCandidate(noise, None, loss) for noise in joint]
    return candidates


def _independent(
    bounded: BoundedRelease,
    sensitivity: Sensitivity,
    query_loss: PrivacyLoss,
    costs: tuple[float, ...],
) -> Iterator[NoiseCandidate]:
    """Noise of each statistic by itself, as the weights `costs` divide the loss."""
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
) -> Iterator[NoiseCandidate]:
    """The mechanisms with a shared part within `query_loss`, if that has a ρ or μ²."""
    match query_loss.accounting:
        case Accounting.PURE:
            return
        case Accounting.ZCDP:
            for noise, rho in correlated_choices(bounded, sensitivity, costs, query_loss.amount):
                yield NoiseCandidate(noise, None, PrivacyLoss(Accounting.ZCDP, rho))
        case Accounting.GDP:
            half = query_loss.amount / 2
            for noise, rho in correlated_choices(bounded, sensitivity, costs, half):
                loss = PrivacyLoss(Accounting.GDP, 2 * rho)
                yield NoiseCandidate(with_rounded_laws(noise), None, loss)
        case Accounting.APPROX:
            if query_loss.delta:
                rho = rho_of_epsilon(query_loss.amount, query_loss.delta)
                for noise, _ in correlated_choices(bounded, sensitivity, costs, rho):
                    yield NoiseCandidate(noise, None, query_loss)  # (ε, δ) as converted from ρ
        case missing:
            assert_never(missing)


def _with_one_delta(
    bounded: BoundedRelease,
    sensitivity: Sensitivity,
    query_loss: PrivacyLoss,
    costs: tuple[float, ...],
) -> NoiseCandidate:
    """Gaussian noise at (ε, δ), with a threshold at the same δ if that is proved, else at half."""

    def at(delta: Fraction) -> NoiseCandidate:
        rho = rho_of_epsilon(query_loss.amount, delta)
        return _gaussian(bounded, sensitivity, query_loss, costs, rho, delta)

    whole = at(query_loss.delta)
    threshold = whole.threshold
    if threshold is None:
        return whole

    def proved() -> NoiseCandidate:
        is_proved = shares_delta(
            bounded,
            sensitivity,
            whole.noise,
            threshold=threshold,
            rho=rho_of_epsilon(query_loss.amount, query_loss.delta),
            loss=query_loss,
        )
        return whole if is_proved else at(query_loss.delta / 2)

    return replace(whole, proved=proved)


def _laplace(
    bounded: BoundedRelease,
    sensitivity: Sensitivity,
    query_loss: PrivacyLoss,
    costs: tuple[float, ...],
) -> NoiseCandidate:
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
    return NoiseCandidate(
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
) -> NoiseCandidate:
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
    return NoiseCandidate(
        mechanisms, key_threshold(bounded, sensitivity, mechanisms, selection_delta), loss
    )


def _rounded_gaussian(
    bounded: BoundedRelease,
    sensitivity: Sensitivity,
    query_loss: PrivacyLoss,
    costs: tuple[float, ...],
) -> NoiseCandidate:
    noise, spent = rounded_gaussian_noise(bounded, sensitivity, costs, query_loss.amount)
    delta = query_loss.delta if bounded.partition_count_index is not None else Fraction(0)
    threshold = key_threshold(bounded, sensitivity, noise, delta)
    return NoiseCandidate(noise, threshold, PrivacyLoss(Accounting.GDP, spent, delta))
