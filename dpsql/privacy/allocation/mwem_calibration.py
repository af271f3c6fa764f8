"""The loss of a synopsis by multiplicative weights: a noisy total, then rounds of choice and noise.

    pure    ε = ε_n + T·(ε0 + ε0)          each choice and each measurement at ε0
    zCDP    ρ = ρ_n + T·(ε0²/8 + ρ_m)      ρ_m = Δ₂²/(2σ²) for what is measured
    GDP     μ² = μ_n² + T·(h(ε0) + μ_m²)   μ_m² = Δ₂²/σ², and h(ε0) of the range of a choice

(Hardt, Ligett & McSherry 2012, "A Simple and Practical Algorithm for Differentially Private Data
Release"; the choice under zCDP by its bounded range, Cesar & Rogers 2021.) There a unit has one
row; here a unit may move the histogram by `l1` in all, so scores and measurements move by as much.
Scores move either way, so the choice is never the monotone one. The number of rows is no public
fact, so it is measured, too.

A round measures a whole partition of the cells and not one range: the partition's counts are of
disjoint rows, so together they move by `l1`, as the count of a single range does.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import assert_never

from dpsql.privacy.accounting.loss import Accounting, PrivacyLoss
from dpsql.privacy.accounting.pure_conversion import mu_squared_of_range, range_of_mu_squared
from dpsql.privacy.accounting.zcdp_conversion import rho_of_epsilon
from dpsql.privacy.mechanisms.noise.gaussian import DiscreteGaussian
from dpsql.privacy.mechanisms.noise.laplace import DiscreteLaplace
from dpsql.privacy.mechanisms.noise.noise import IndependentNoise
from dpsql.privacy.mechanisms.noise.rounded_gaussian import RoundedGaussian
from dpsql.privacy.mechanisms.selection.exponential import Exponential, epsilon_of_choice

TOTAL_SHARE = Fraction(1, 10)
"""The share of the loss that measures the number of rows."""


@dataclass(frozen=True, slots=True)
class HistogramSensitivity:
    """How far neighbours move a histogram: at most `groups` cells, by `per_cell` each.

    A count that merges `merged` cells moves by at most min(groups, merged)·per_cell.
    """

    groups: int
    per_cell: int

    @property
    def l1(self) -> int:
        """The L1 sensitivity of the histogram, of any partition's counts, and of any score."""
        return self.groups * self.per_cell

    def l2_squared(self, merged: int) -> int:
        """The squared L2 sensitivity of counts that each merge at most `merged` cells.

        It is bounded by Σc² ≤ Σ|c| · max|c|. A unit that is in 3 cells which are merged moves their
        count by all three.
        """
        return self.l1 * min(self.groups, merged) * self.per_cell


@dataclass(frozen=True, slots=True)
class MwemParameters:
    """The mechanisms of a synopsis of `rounds` rounds.

    `total` is the noise of the number of rows, `choice` selects the partition to measure next.
    `amount` is the loss of each measurement: ε of Laplace noise; if `gaussian`, ρ of discrete
    Gaussian noise, or μ² of rounded Gaussian noise.
    """

    rounds: int
    sensitivity: HistogramSensitivity
    total: IndependentNoise
    choice: Exponential
    amount: Fraction
    gaussian: bool

    def noise(self, merged: int) -> IndependentNoise:
        """The noise for counts of a partition that merge at most `merged` cells each."""
        if isinstance(self.total, RoundedGaussian):
            return _rounded(self.sensitivity, merged, self.amount)
        return _noise(self.sensitivity, merged, self.amount, gaussian=self.gaussian)

    def loss(self, accounting: Accounting) -> PrivacyLoss:
        """The loss of all mechanisms together.

        With Gaussian noise it is ρ, which has yet to be converted under APPROX.
        """
        match self.total:
            case RoundedGaussian():
                total = self.total.mu_squared(self.sensitivity.l1**2)
                chosen = mu_squared_of_range(self.choice.epsilon)
                spent = total + self.rounds * (chosen + self.amount)
            case DiscreteGaussian():
                total = self.total.rho(self.sensitivity.l1**2)
                spent = total + self.rounds * (self.choice.rho() + self.amount)
            case DiscreteLaplace():
                total = self.total.epsilon(self.sensitivity.l1)
                spent = total + self.rounds * (self.choice.epsilon + self.amount)
            case missing:
                assert_never(missing)
        return PrivacyLoss(accounting, spent)


def mwem_calibration(
    sensitivity: HistogramSensitivity, rounds: int, query_loss: PrivacyLoss
) -> tuple[MwemParameters, PrivacyLoss]:
    """Return the less noisy mechanisms that `query_loss` allows, and their loss.

    Raises ArithmeticError if that passes `query_loss`, which is a bug.
    """
    match query_loss.accounting:
        case Accounting.PURE:
            parameters = _pure(sensitivity, rounds, query_loss.amount)
            cost = parameters.loss(query_loss.accounting)
        case Accounting.ZCDP:
            parameters = _gaussian(sensitivity, rounds, query_loss.amount)
            cost = parameters.loss(query_loss.accounting)
        case Accounting.GDP:
            parameters = _gdp(sensitivity, rounds, query_loss.amount)
            cost = parameters.loss(query_loss.accounting)
        case Accounting.APPROX:
            parameters = _pure(sensitivity, rounds, query_loss.amount)
            cost = parameters.loss(query_loss.accounting)
            if query_loss.delta:
                other = _gaussian(
                    sensitivity, rounds, rho_of_epsilon(query_loss.amount, query_loss.delta)
                )
                if other.noise(1).variance < parameters.noise(1).variance:
                    parameters, cost = other, query_loss  # (ε, δ) as converted from ρ
        case missing:
            assert_never(missing)
    if cost.amount > query_loss.amount or cost.delta > query_loss.delta:
        raise ArithmeticError("a synopsis passed its grant")
    return parameters, cost


def _pure(sensitivity: HistogramSensitivity, rounds: int, epsilon: Fraction) -> MwemParameters:
    each = epsilon * (1 - TOTAL_SHARE) / (2 * rounds)
    total = _noise(sensitivity, sensitivity.groups, epsilon * TOTAL_SHARE, gaussian=False)
    return MwemParameters(
        rounds, sensitivity, total, Exponential(each, 2 * sensitivity.l1), each, gaussian=False
    )


def _gaussian(sensitivity: HistogramSensitivity, rounds: int, rho: Fraction) -> MwemParameters:
    each = rho * (1 - TOTAL_SHARE) / (2 * rounds)
    total = _noise(sensitivity, sensitivity.groups, rho * TOTAL_SHARE, gaussian=True)
    choice = Exponential(epsilon_of_choice(each), 2 * sensitivity.l1)
    return MwemParameters(rounds, sensitivity, total, choice, each, gaussian=True)


def _gdp(sensitivity: HistogramSensitivity, rounds: int, mu_squared: Fraction) -> MwemParameters:
    each = mu_squared * (1 - TOTAL_SHARE) / (2 * rounds)
    total = _rounded(sensitivity, sensitivity.groups, mu_squared * TOTAL_SHARE)
    choice = Exponential(range_of_mu_squared(each), 2 * sensitivity.l1)
    return MwemParameters(rounds, sensitivity, total, choice, each, gaussian=True)


def _rounded(
    sensitivity: HistogramSensitivity, merged: int, mu_squared: Fraction
) -> RoundedGaussian:
    return RoundedGaussian(sensitivity.l2_squared(merged) / mu_squared)


def _noise(
    sensitivity: HistogramSensitivity, merged: int, amount: Fraction, *, gaussian: bool
) -> IndependentNoise:
    if gaussian:
        return DiscreteGaussian(sensitivity.l2_squared(merged) / (2 * amount))
    return DiscreteLaplace(sensitivity.l1 / amount)
