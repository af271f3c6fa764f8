"""The loss of a synopsis: of each statistic a noisy total, then rounds of choice and noise.

    pure    ε = ε_n + Σ_t k_t·(ε0 + ε1)          a choice at k·ε0, its measurement at k·ε1
    zCDP    ρ = ρ_n + Σ_t k_t·(ρ0 + ρ1)          k·ρ0 = ε²/8 of a choice, k·ρ1 = Δ₂²/(2σ²)
    GDP     μ² = μ_n² + Σ_t k_t·(h + m)          k·h of the range of a choice, k·m = Δ₂²/σ²

(Hardt, Ligett & McSherry 2012, "A Simple and Practical Algorithm for Differentially Private Data
Release"; the choice under zCDP by its bounded range, Cesar & Rogers 2021.) There a unit has one
row; here a unit may move the histogram by `l1` in all, so scores and measurements move by as much.
Scores move either way, so the choice is never the monotone one. The number of rows is no public
fact, so it is measured, too.

Sums of values are measured as rows are, in integer steps: a unit moves a cell of them by at most
its rows times the farthest value from 0. Statistics share the loss equally, each with rounds of its
own.

A round measures a whole partition of the cells and not one range: the partition's counts are of
disjoint rows, so together they move by `l1`, as the count of a single range does.

What the rounds may lose is cut into `parts` equal ones, and a round takes k_t of them: how many is
decided by what was released before (McKenna, Mullins, Sheldon & Miklau 2022, "AIM", where it is
annealed). A round takes none that isn't left, so Σ_t k_t <= parts, whatever was released. That is a
filter: in each of the three currencies losses that are chosen adaptively add up, as long as their
sum is bounded beforehand (pure: Rogers, Roth, Ullman & Vadhan 2016; zCDP: Feldman & Zrnic 2021;
GDP: Smith & Thakurta 2022). All of it is charged at once, before the first round.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import assert_never

from msgspec import Struct

from dpsql.privacy.accounting.loss import Accounting, PrivacyLoss
from dpsql.privacy.accounting.pure_conversion import range_of_mu_squared
from dpsql.privacy.accounting.zcdp_conversion import rho_of_epsilon
from dpsql.privacy.mechanisms.noise.gaussian import DiscreteGaussian
from dpsql.privacy.mechanisms.noise.laplace import DiscreteLaplace
from dpsql.privacy.mechanisms.noise.noise import IndependentNoise
from dpsql.privacy.mechanisms.noise.rounded_gaussian import RoundedGaussian
from dpsql.privacy.mechanisms.selection.exponential import (
    Exponential,
    amount_of_range,
    epsilon_of_choice,
)
from dpsql.structs import replace

TOTAL_SHARE = Fraction(1, 20)
"""The share of the loss that measures the number of rows."""

CHOICE_SHARE = Fraction(1, 10)
"""The share of a round's loss that chooses what it measures."""


class HistogramSensitivity(Struct, frozen=True):
    """How far neighbours move a histogram, of rows or of sums.

    It is by at most `per_cell` in each of at most `groups` cells, and in all cells together by at
    most `in_all`, if that is known. A count that merges `merged` cells moves by at most
    min(groups, merged)·per_cell, and by no more than `l1`.
    """

    groups: int
    per_cell: int
    in_all: int | None = None

    @property
    def l1(self) -> int:
        """The L1 sensitivity of the histogram, of any partition's counts, and of any score."""
        filled = self.groups * self.per_cell
        return filled if self.in_all is None else min(filled, self.in_all)

    def l2_squared(self, merged: int) -> int:
        """The squared L2 sensitivity of counts that each merge at most `merged` cells.

        No count moves by more than `largest`, and all together by no more than `l1`: Σc² is convex
        in what each moves by, so it is largest where as many as can be move by `largest`, and one
        by what is left. A unit in 3 cells which are merged moves their count by all three.
        """
        largest = min(self.l1, min(self.groups, merged) * self.per_cell)
        full, left = divmod(self.l1, largest)
        return full * largest**2 + left**2


class MwemParameters(Struct, frozen=True):
    """The mechanisms of a histogram whose rounds take `parts` parts of a loss between them.

    `total` is the noise of the sum of its cells. `part` is the loss of one part: ε where noise is
    of Laplace, ρ where it is discrete Gaussian, μ² where it is rounded Gaussian. `sums` are the
    mechanisms of a synopsis' other histograms beside that of its rows.
    """

    parts: int
    sensitivity: HistogramSensitivity
    total: IndependentNoise
    part: Fraction
    sums: tuple[MwemParameters, ...] = ()

    def choice(self, taken: int) -> Exponential:
        """The mechanism that selects a partition in a round that takes so many parts."""
        amount = self.part * taken * CHOICE_SHARE
        return Exponential(self._range(amount), 2 * self.sensitivity.l1)

    def noise(self, taken: int, merged: int) -> IndependentNoise:
        """The noise of a round that takes so many parts, for counts of at most `merged` cells."""
        amount = self.part * taken * (1 - CHOICE_SHARE)
        match self.total:
            case RoundedGaussian():
                return RoundedGaussian(self.sensitivity.l2_squared(merged) / amount)
            case DiscreteGaussian():
                return DiscreteGaussian(self.sensitivity.l2_squared(merged) / (2 * amount))
            case DiscreteLaplace():
                return DiscreteLaplace(self.sensitivity.l1 / amount)
            case missing:
                assert_never(missing)

    def loss(self, accounting: Accounting) -> PrivacyLoss:
        """The loss of all mechanisms together, however many parts each round takes.

        With Gaussian noise it is ρ, which has yet to be converted under APPROX. Raises
        ArithmeticError for a round that loses more than its parts, which is a bug.
        """
        for taken in range(1, self.parts + 1):
            if self._of_round(taken) > taken * self.part:
                raise ArithmeticError("a round of a synopsis passed its parts")
        own = self._of_noise(self.total) + self.parts * self.part
        return PrivacyLoss(accounting, own + sum(one.loss(accounting).amount for one in self.sums))

    def _of_round(self, taken: int) -> Fraction:
        """What a round loses: of counts that merge all cells of a unit, as of any others."""
        chosen = amount_of_range(self.choice(taken).epsilon, self._currency)
        return chosen + self._of_noise(self.noise(taken, self.sensitivity.groups))

    def _of_noise(self, noise: IndependentNoise) -> Fraction:
        """What counts with this noise lose if one of them moves by all rows of a unit."""
        match noise:
            case RoundedGaussian():
                return noise.mu_squared(self.sensitivity.l1**2)
            case DiscreteGaussian():
                return noise.rho(self.sensitivity.l1**2)
            case DiscreteLaplace():
                return noise.epsilon(self.sensitivity.l1)
            case missing:
                assert_never(missing)

    @property
    def _currency(self) -> Accounting:
        match self.total:
            case RoundedGaussian():
                return Accounting.GDP
            case DiscreteGaussian():
                return Accounting.ZCDP
            case DiscreteLaplace():
                return Accounting.PURE
            case missing:
                assert_never(missing)

    def _range(self, amount: Fraction) -> Fraction:
        """The largest range of a choice that loses `amount`, or nearly."""
        match self._currency:
            case Accounting.GDP:
                return range_of_mu_squared(amount)
            case Accounting.ZCDP:
                return epsilon_of_choice(amount)
            case Accounting.PURE | Accounting.APPROX:
                return amount
            case missing:
                assert_never(missing)


def mwem_calibration(
    moves: Sequence[HistogramSensitivity],
    parts: int,
    query_loss: PrivacyLoss,
    laplace_parts: int | None = None,
) -> tuple[MwemParameters, PrivacyLoss]:
    """Return the less noisy mechanisms that `query_loss` allows, and their loss.

    `moves` are those of the histograms: of the rows first, then of each sum; they share the loss
    equally. Their rounds' loss is cut into `parts`, or where noise is of Laplace into
    `laplace_parts`, which are no more. Raises ArithmeticError if that passes `query_loss`, which is
    a bug.
    """
    amount, accounting = query_loss.amount, query_loss.accounting
    few = parts if laplace_parts is None else laplace_parts
    match accounting:
        case Accounting.PURE:
            parameters = _shared(_pure, moves, few, amount)
            return parameters, _check_grant(query_loss, parameters.loss(accounting))
        case Accounting.ZCDP:
            parameters = _shared(_gaussian, moves, parts, amount)
            return parameters, _check_grant(query_loss, parameters.loss(accounting))
        case Accounting.GDP:
            parameters = _shared(_gdp, moves, parts, amount)
            return parameters, _check_grant(query_loss, parameters.loss(accounting))
        case Accounting.APPROX:
            parameters = _shared(_pure, moves, few, amount)
            cost = _check_grant(query_loss, parameters.loss(accounting))
            if query_loss.delta:
                rho = rho_of_epsilon(amount, query_loss.delta)
                other = _shared(_gaussian, moves, parts, rho)
                _check_grant(PrivacyLoss(Accounting.ZCDP, rho), other.loss(Accounting.ZCDP))
                # Of as large a share of the rounds' loss.
                if other.noise(parts // few, 1).variance < parameters.noise(1, 1).variance:
                    return other, query_loss  # (ε, δ) as converted from ρ
            return parameters, cost
        case missing:
            assert_never(missing)


def _check_grant(granted: PrivacyLoss, cost: PrivacyLoss) -> PrivacyLoss:
    """`cost`, which doesn't pass what is granted."""
    if cost.amount > granted.amount or cost.delta > granted.delta:
        raise ArithmeticError("a synopsis passed its grant")
    return cost


def _shared(
    law: Callable[[HistogramSensitivity, int, Fraction], MwemParameters],
    moves: Sequence[HistogramSensitivity],
    parts: int,
    amount: Fraction,
) -> MwemParameters:
    """The mechanisms of all histograms, by noise of one `law`, each with an equal share."""
    rows, *sums = (law(one, parts, amount / len(moves)) for one in moves)
    return replace(rows, sums=tuple(sums))


def _pure(sensitivity: HistogramSensitivity, parts: int, epsilon: Fraction) -> MwemParameters:
    total = DiscreteLaplace(sensitivity.l1 / (epsilon * TOTAL_SHARE))
    return MwemParameters(parts, sensitivity, total, epsilon * (1 - TOTAL_SHARE) / parts)


def _gaussian(sensitivity: HistogramSensitivity, parts: int, rho: Fraction) -> MwemParameters:
    total = DiscreteGaussian(sensitivity.l1**2 / (2 * rho * TOTAL_SHARE))
    return MwemParameters(parts, sensitivity, total, rho * (1 - TOTAL_SHARE) / parts)


def _gdp(sensitivity: HistogramSensitivity, parts: int, mu_squared: Fraction) -> MwemParameters:
    total = RoundedGaussian(sensitivity.l1**2 / (mu_squared * TOTAL_SHARE))
    return MwemParameters(parts, sensitivity, total, mu_squared * (1 - TOTAL_SHARE) / parts)
