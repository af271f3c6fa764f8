"""From a granted loss to the mechanism of each statistic, by public facts alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import assert_never

from dpsql.analysis.sensitivity import Sensitivity, rows_per_group
from dpsql.errors import Refused
from dpsql.plan.bounded_release.bounded_release import BoundedRelease
from dpsql.plan.bounded_release.estimator import Linear, Mean, Moments, Named, Position, Variance
from dpsql.privacy.accounting.loss import Accounting, PrivacyLoss
from dpsql.privacy.accounting.zcdp_conversion import rho_of_epsilon
from dpsql.privacy.allocation.joint_allocation import split_gaussian_jointly, split_laplace_jointly
from dpsql.privacy.allocation.mwem_calibration import Weighing
from dpsql.privacy.allocation.noise_allocation import (
    laplace_where_less,
    split_gaussian,
    split_laplace,
)
from dpsql.privacy.mechanisms.noise.gaussian import DiscreteGaussian
from dpsql.privacy.mechanisms.noise.laplace import DiscreteLaplace
from dpsql.privacy.partition_selection import selection_delta, threshold
from dpsql.release.exact_answers import AsSaid
from dpsql.release.selection_mechanism import Chooser, chooser

Noise = DiscreteLaplace | DiscreteGaussian


@dataclass(frozen=True, slots=True)
class Measurement:
    """The mechanism of each statistic and selection, the threshold on unit counts, and their cost.

    `rho` or `epsilon` of the vector as it is, not as it was asked for: `loss` is at most the grant.
    """

    mechanisms: tuple[Noise | AsSaid, ...]
    threshold: int | None
    loss: PrivacyLoss
    choosers: tuple[Chooser, ...] = ()
    weighing: Weighing | None = None
    """Of a synopsis, instead of all these."""

    @property
    def noise(self) -> tuple[Noise, ...]:
        """The mechanisms that add some: all, or none where answers are shown as they were said."""
        return tuple(m for m in self.mechanisms if not isinstance(m, AsSaid))


def calibrate(bounded: BoundedRelease, sensitivity: Sensitivity, grant: PrivacyLoss) -> Measurement:
    """The mechanisms with the least expected error within `grant`.

    Sums and choices share the grant by the numbers of columns that they make. Under approx,
    `grant.delta` is shared by Gaussian noise and partition selection.
    """
    if bounded.selection is not None and not grant.delta:
        raise Refused(
            "group keys without a declared domain need a delta to be selected by",
            hint="declare `values` of the keys in the schema, or a budget with delta > 0",
            note="partition_selection",
        )
    chosen = sum(selection.choices for selection in bounded.terms.selections)
    formulas = {output.formula for output in bounded.outputs}
    made = sum(not isinstance(formula, Position | Named) for formula in formulas)
    summed = max(made, 1) if bounded.terms.statistics else 0
    # Nothing but keys, all of them listed by public facts: nothing is measured.
    found = Measurement((), None, PrivacyLoss(grant.accounting, Fraction(0)))
    if summed:
        part = grant.amount * Fraction(summed, summed + chosen)
        share = PrivacyLoss(grant.accounting, part, grant.delta)
        found = _summed(bounded, sensitivity, share)
    choosers: list[Chooser] = []
    loss = found.loss
    for selection in bounded.terms.selections:
        part = grant.amount * Fraction(selection.choices, summed + chosen)
        rows = rows_per_group(bounded.limited)
        mechanism, cost = chooser(selection, sensitivity, rows, PrivacyLoss(grant.accounting, part))
        choosers.append(mechanism)
        loss += cost
    return replace(found, choosers=tuple(choosers), loss=loss)


def as_said(bounded: BoundedRelease, accounting: Accounting) -> Measurement:
    """No noise and no charge, of a release that `answers_alone` has proved."""
    mechanisms = (AsSaid(),) * len(bounded.terms.statistics)
    return Measurement(mechanisms, None, PrivacyLoss(accounting, Fraction(0)))


def _summed(bounded: BoundedRelease, sensitivity: Sensitivity, grant: PrivacyLoss) -> Measurement:
    selects = bounded.selection is not None
    match grant.accounting:
        case Accounting.PURE:
            return _laplace(bounded, sensitivity, grant, selects=False)
        case Accounting.ZCDP:
            return _gaussian(bounded, sensitivity, grant, grant.amount, grant.delta)
        case Accounting.APPROX:
            laplace = _laplace(bounded, sensitivity, grant, selects=selects)
            if not grant.delta:
                return laplace
            gaussian = _with_one_delta(bounded, sensitivity, grant)
            return min(laplace, gaussian, key=lambda m: expected_cost(bounded, sensitivity, m))
        case missing:
            assert_never(missing)


def _with_one_delta(
    bounded: BoundedRelease, sensitivity: Sensitivity, grant: PrivacyLoss
) -> Measurement:
    """Gaussian noise at (ε, δ), and a threshold on it within the same δ where that holds."""
    rho = rho_of_epsilon(grant.amount, grant.delta)
    whole = _gaussian(bounded, sensitivity, grant, rho, grant.delta)
    if bounded.selection is None or whole.threshold is None:
        return whole
    counted = whole.noise[bounded.selection]
    delta = selection_delta(
        counted.tail(whole.threshold - sensitivity.per_group[bounded.selection]),
        groups=sensitivity.groups * sensitivity.units,
        rho=rho,
        rho_per_group=sensitivity.l2.in_one_group(lambda p, c: _rho(whole.noise[p], c)),
        epsilon=grant.amount,
    )
    if delta <= grant.delta:
        return whole
    half = grant.delta / 2
    return _gaussian(bounded, sensitivity, grant, rho_of_epsilon(grant.amount, half), half)


def expected_cost(
    bounded: BoundedRelease, sensitivity: Sensitivity, measurement: Measurement
) -> float:
    """The weighted variance that the noise split minimises."""
    costs = weights(bounded, sensitivity)
    return sum(c * float(m.variance) for c, m in zip(costs, measurement.mechanisms, strict=True))


def weights(bounded: BoundedRelease, sensitivity: Sensitivity) -> tuple[float, ...]:
    """What a unit of variance in each statistic costs its readers, relative to their scales.

    A column's scale is what one unit can change in it, so that columns count alike; a mean's error
    is at worst as if every value lay at the end of its range (dp_reference A6).
    """
    own = sensitivity.per_group
    costs = [0.0] * len(own)
    # A value and its error are one formula, and cost no more than the value.
    for formula in dict.fromkeys(output.formula for output in bounded.outputs):
        match formula:
            case Linear(terms=terms, others=others):
                scale = sum(abs(factor) * own[place] for place, factor in terms) or 1
                for place, factor in terms:
                    costs[place] += (factor / scale) ** 2
                if others is not None:
                    for place, factor in others.terms:
                        costs[place] += others.groups * (factor / scale) ** 2
            case Mean(total=total, count=count):
                costs[total] += 1 / own[total] ** 2
                costs[count] += 1 / own[count] ** 2
            case Position() | Named():
                pass  # chosen, not summed
            case Variance(place=place):
                costs[place] += 1 / own[place] ** 2
            case Moments():
                for place in formula.places:
                    costs[place] += 1 / own[place] ** 2
            case missing:
                assert_never(missing)
    counted = bounded.selection if bounded.least is None else bounded.least.place
    if counted is not None:
        costs[counted] += 1 / own[counted] ** 2
    smallest = min((cost for cost in costs if cost), default=1.0)
    return tuple(cost or smallest for cost in costs)


def _laplace(
    bounded: BoundedRelease, sensitivity: Sensitivity, grant: PrivacyLoss, *, selects: bool
) -> Measurement:
    costs, norm = weights(bounded, sensitivity), sensitivity.l1
    if norm.apart is not None:
        mechanisms = split_laplace(norm.apart, costs, norm.groups_of_each, grant.amount)
    else:
        mechanisms = split_laplace_jointly(norm.corners, costs, norm.groups, grant.amount)
    epsilon = norm.total(lambda place, change: mechanisms[place].epsilon(change))
    if epsilon > grant.amount:
        raise ArithmeticError("the noise split passed its grant")
    delta = grant.delta if selects else Fraction(0)
    return Measurement(
        mechanisms,
        _threshold(bounded, sensitivity, mechanisms, delta),
        PrivacyLoss(grant.accounting, epsilon, delta),
    )


def _gaussian(
    bounded: BoundedRelease,
    sensitivity: Sensitivity,
    grant: PrivacyLoss,
    rho: Fraction,
    selection_delta: Fraction,
) -> Measurement:
    costs, norm = weights(bounded, sensitivity), sensitivity.l2
    if norm.apart is not None:
        gaussian = split_gaussian(norm.apart, costs, norm.groups_of_each, rho)
        mechanisms: tuple[Noise, ...] = gaussian
        if norm.apart == sensitivity.per_group:
            # How far each statistic may move in a group, not only a bound on sums of squares: the
            # loss of Laplace noise is convex in the move, and 0 at 0, so that any moves that are as
            # large in all lose no more than the largest ones in as few groups as there can be.
            mechanisms = laplace_where_less(gaussian, norm.apart)
    else:
        mechanisms = split_gaussian_jointly(norm.corners, costs, norm.groups, rho)
    spent = norm.total(lambda place, change: _rho(mechanisms[place], change))
    if spent > rho:
        raise ArithmeticError("the noise split passed its grant")
    if grant.accounting is Accounting.APPROX:
        loss = grant  # (ε, δ) as converted from ρ at its share of δ
    else:
        delta = selection_delta if bounded.selection is not None else Fraction(0)
        loss = PrivacyLoss(Accounting.ZCDP, spent, delta)
    return Measurement(
        mechanisms, _threshold(bounded, sensitivity, mechanisms, selection_delta), loss
    )


def _rho(noise: Noise, change: int) -> Fraction:
    """The zCDP loss of one statistic that moves by `change` in one group."""
    match noise:
        case DiscreteGaussian():
            return noise.rho(change**2)
        case DiscreteLaplace():
            return noise.rho(change)
        case missing:
            assert_never(missing)


def _threshold(
    bounded: BoundedRelease,
    sensitivity: Sensitivity,
    mechanisms: tuple[Noise, ...],
    delta: Fraction,
) -> int | None:
    """τ for groups that only the changed units are in: `units` in each, in units · l0 groups."""
    if bounded.selection is None:
        return None
    return threshold(
        mechanisms[bounded.selection],
        groups=sensitivity.groups * sensitivity.units,
        per_group=sensitivity.per_group[bounded.selection],
        delta=delta,
    )
