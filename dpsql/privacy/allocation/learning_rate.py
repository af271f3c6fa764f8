"""The learning rate of randomised weighted majority that a loss allows.

    pure    ε = η·Σ_t m_t           m_t: how far neighbours move two sums of losses apart before
    zCDP    ρ = η²·Σ_t m_t²/8            the choice of round t
    GDP     μ² = π·η²·Σ_t m_t²/8

A higher rate than √(ln k/T), where the bound on regret is least, is never taken: it would cost more
and promise less.
"""

from __future__ import annotations

from fractions import Fraction
from typing import assert_never

from dpsql.privacy.accounting.loss import Accounting, PrivacyLoss
from dpsql.privacy.accounting.pure_conversion import HIGH_PI
from dpsql.privacy.accounting.zcdp_conversion import epsilon_of_rho, rho_of_epsilon
from dpsql.privacy.directed_rounding import ln, round_down, sqrt
from dpsql.privacy.mechanisms.selection.weighted_majority import LossMoves, WeightedMajority


def weighted_majority(
    experts: int, width: int, moves: LossMoves, query_loss: PrivacyLoss
) -> tuple[WeightedMajority, PrivacyLoss]:
    """The mechanism with the least regret within `query_loss`, and its loss.

    Losses of a row are at most `width` steps apart; there are at least two `experts`. Raises
    ArithmeticError if the loss passes `query_loss`, which is a bug.
    """
    best = round_down(sqrt(ln(Fraction(experts)).low / moves.rounds).low) / width
    pure = query_loss.amount / moves.sum
    match query_loss.accounting:
        case Accounting.PURE:
            mechanism = WeightedMajority(min(pure, best), width, moves)
            cost = PrivacyLoss(query_loss.accounting, mechanism.epsilon())
        case Accounting.ZCDP:
            mechanism = WeightedMajority(min(_of_rho(query_loss.amount, moves), best), width, moves)
            cost = PrivacyLoss(query_loss.accounting, mechanism.rho())
        case Accounting.GDP:
            rate = _of_rho(query_loss.amount / HIGH_PI, moves)
            mechanism = WeightedMajority(min(rate, best), width, moves)
            cost = PrivacyLoss(query_loss.accounting, HIGH_PI * mechanism.rho())
        case Accounting.APPROX:
            mechanism = WeightedMajority(min(pure, best), width, moves)
            cost = PrivacyLoss(query_loss.accounting, mechanism.epsilon())
            if query_loss.delta and pure < best:
                rho = rho_of_epsilon(query_loss.amount, query_loss.delta)
                other = WeightedMajority(min(_of_rho(rho, moves), best), width, moves)
                if other.rate > mechanism.rate:
                    mechanism, cost = other, _converted(other.rho(), query_loss)
        case missing:
            assert_never(missing)
    if cost.amount > query_loss.amount or cost.delta > query_loss.delta:
        raise ArithmeticError("weighted majority passed its grant")
    return mechanism, cost


def _of_rho(rho: Fraction, moves: LossMoves) -> Fraction:
    """The largest rate whose zCDP loss is at most `rho`, rounded down."""
    return round_down(sqrt(8 * rho / moves.sum_of_squares).low)


def _converted(rho: Fraction, query_loss: PrivacyLoss) -> PrivacyLoss:
    """`rho` as (ε, δ), with the δ of `query_loss`."""
    epsilon = min(epsilon_of_rho(rho, query_loss.delta), query_loss.amount)
    return PrivacyLoss(query_loss.accounting, epsilon, query_loss.delta)
