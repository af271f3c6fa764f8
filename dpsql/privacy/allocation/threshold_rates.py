"""The rates of the sparse vector technique that a loss allows, with the least error.

    pure    ε = a·reach + n·b·span           a, b: rates of the threshold and of what is compared
    zCDP    ρ = (a·span + 2·n·b·span)²/8        n: how many are named
    GDP     μ² is that of the same range of losses

The error is u/a + v/b, by logarithms u and v of what each may miss; at one cost of A a + B b it is
least where a/b = √(uB/(vA)).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import assert_never

from dpsql.privacy.accounting.loss import Accounting, PrivacyLoss
from dpsql.privacy.accounting.pure_conversion import range_of_mu_squared
from dpsql.privacy.mechanisms.selection.above_threshold import (
    AboveThreshold,
    ThresholdMoves,
    even_offset,
)
from dpsql.privacy.mechanisms.selection.exponential import amount_of_range, epsilon_of_choice


def above_threshold(
    queries: int,
    firings: int,
    moves: ThresholdMoves,
    query_loss: PrivacyLoss,
    confidence: Fraction,
) -> tuple[AboveThreshold, PrivacyLoss]:
    """The mechanism of the least error at `confidence` within `query_loss`, and its loss.

    Raises ArithmeticError if the loss passes `query_loss`, which is a bug.
    """
    match query_loss.accounting:
        case Accounting.PURE | Accounting.APPROX:
            granted, of_threshold = query_loss.amount, moves.reach
            of_query = firings * moves.span
        case Accounting.ZCDP:
            granted, of_threshold = epsilon_of_choice(query_loss.amount), moves.span
            of_query = 2 * firings * moves.span
        case Accounting.GDP:
            granted, of_threshold = range_of_mu_squared(query_loss.amount), moves.span
            of_query = 2 * firings * moves.span
        case missing:
            assert_never(missing)
    missed = float(1 - confidence) / 2
    tails = math.log(1 / missed) / math.log(queries / missed)
    # Any ratio is paid for exactly: how near it is to the best one makes no difference to the loss.
    ratio = Fraction(math.sqrt(tails * of_query / of_threshold)).limit_denominator(1000)
    query_rate = granted / (of_threshold * ratio + of_query)
    rates = query_rate * ratio, query_rate
    offset = even_offset(*rates, queries, confidence)
    mechanism = AboveThreshold(*rates, firings, moves, offset)
    amount = _amount(mechanism, query_loss.accounting)
    if amount > query_loss.amount:
        raise ArithmeticError("the sparse vector technique passed its grant")
    return mechanism, PrivacyLoss(query_loss.accounting, amount)


def _amount(mechanism: AboveThreshold, accounting: Accounting) -> Fraction:
    match accounting:
        case Accounting.PURE | Accounting.APPROX:
            return mechanism.epsilon()
        case Accounting.ZCDP | Accounting.GDP:
            return amount_of_range(mechanism.loss_range, accounting)
        case missing:
            assert_never(missing)
