"""The exponential mechanism: chooses a candidate with probability ∝ weight·e^-(rate·loss), exactly.

(McSherry & Talwar 2007, "Mechanism Design via Differential Privacy".) Candidate i is the cell
between the cumulative weights before and up to it, and a uniform real number, read lazily, falls
into one cell. Cumulative weights are bounded in doubles turned into integers; where the uniform is
too near a bound to tell, in as many decimal digits as it takes. So the law is exact.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate
from typing import assert_never

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from dpsql.privacy.accounting.loss import Accounting, PrivacyLoss
from dpsql.privacy.accounting.pure_conversion import mu_squared_of_range
from dpsql.privacy.directed_rounding import round_down, scaled_exp, sqrt
from dpsql.privacy.mechanisms.randomness import Randomness, doubled, words
from dpsql.privacy.mechanisms.selection.candidates import Candidates, Table, check_selection
from dpsql.privacy.mechanisms.selection.exp_enclosure import decays


class Exponential(Struct, frozen=True):
    """Chooses with rate ε/spread.

    `spread` is how far neighbours move two candidates' losses apart: twice the largest move of a
    single loss, or once if all losses of a vector move in the same direction (monotone).
    """

    epsilon: Fraction
    spread: int

    def __post_init__(self) -> None:
        check_selection(self.epsilon, self.spread)

    @property
    def name(self) -> str:
        """The mechanism's name in reports."""
        return "exponential"

    @property
    def rate(self) -> Fraction:
        """The rate at which the logarithm of a probability falls with the loss."""
        return self.epsilon / self.spread

    def rho(self) -> Fraction:
        """Return the zCDP loss of one choice, ε²/8.

        The logarithm of the ratio of a candidate's two probabilities is rate·(its move) plus a term
        that all share, so over the candidates it ranges over at most ε: bounded range, which is
        ε²/8 (Dong, Durfee & Rogers 2020; Cesar & Rogers 2021, Lemma 3.4).
        """
        return self.epsilon**2 / 8

    def loss(self, accounting: Accounting) -> PrivacyLoss:
        """Return the privacy loss of one choice: ε, ρ under ZCDP, or μ² under GDP."""
        return PrivacyLoss(accounting, amount_of_range(self.epsilon, accounting))

    def choose(
        self,
        losses: Table,
        randomness: Randomness,
        weights: Table | None = None,
    ) -> NDArray[np.int64]:
        """Return the index that is chosen in each row of losses; see the function `choose`."""
        return choose(losses, self.rate, randomness, weights)


def epsilon_of_choice(rho: Fraction) -> Fraction:
    """Return the largest ε with ε²/8 <= rho, rounded down in the 30th digit."""
    return round_down(sqrt(8 * rho).low)


def amount_of_range(width: Fraction, accounting: Accounting) -> Fraction:
    """Return what a choice of the bounded range `width` loses in `accounting`."""
    match accounting:
        case Accounting.PURE | Accounting.APPROX:
            return width
        case Accounting.ZCDP:
            return width**2 / 8
        case Accounting.GDP:
            return mu_squared_of_range(width)
        case missing:
            assert_never(missing)


def choose(
    losses: Table,
    rate: Fraction,
    randomness: Randomness,
    weights: Table | None = None,
) -> NDArray[np.int64]:
    """Return for each row of `losses` an index i with Pr[i] ∝ weights[i]·e^-(rate·losses[i]).

    Losses are integers below 2^62 in absolute value, one row per independent choice; a single
    vector is a batch of one. A weight stands for so many equal candidates, 0 for none; weights have
    the shape of the losses or of one row, and add up to less than 2^61 in each. Raises TypeError or
    ValueError otherwise.
    """
    parts = [
        _choose(part, rate, words(randomness, part.rows, 64), randomness)
        for part in Candidates.of(losses, weights).parts()
    ]
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)


def _choose(
    candidates: Candidates, rate: Fraction, prefixes: NDArray[np.uint64], randomness: Randomness
) -> NDArray[np.int64]:
    # In units of 2^-size, totals are from 2^60 to 2^61. Of n candidates, each end is off by at most
    # 2^-43 of itself and n for rounding to integers (a candidate beyond MAX_EXPONENT weighs less
    # than 2^61·2^-183, the best one at least 1, so leaving it out is less than one unit). With
    # U in [u, u + 1]/2^52, the target U·total is off by 2^-52·total for U, as much as the
    # total is for the total, 2^-51·total for two roundings, and 1. The target's error and an end's
    # are then less than `doubt` together.
    weighed = decays(candidates.above_minimum(), rate)
    if candidates.weights is not None:
        weighed *= candidates.weights
    sizes = np.frexp(weighed.sum(axis=1))[1]
    ends = np.ldexp(weighed, (61 - sizes)[:, None]).astype(np.int64)
    np.cumsum(ends, axis=1, out=ends)
    totals = ends[:, -1]
    doubt = (totals >> 41) + 2 * candidates.count + 4
    targets = ((prefixes >> np.uint64(12)) * 2.0**-52 * totals).astype(np.int64)
    chosen: NDArray[np.int64] = (ends <= targets[:, None]).sum(axis=1)
    ending = np.take_along_axis(ends, np.minimum(chosen, candidates.count - 1)[:, None], axis=1)
    starting = np.take_along_axis(ends, np.maximum(chosen - 1, 0)[:, None], axis=1)
    starts = np.where(chosen > 0, starting[:, 0], 0)
    certain = (targets - starts > doubt) & (ending[:, 0] - targets > doubt)
    for row in (~certain).nonzero()[0]:
        shifted, weights = candidates.row(int(row))
        chosen[row] = choose_exactly(shifted, weights, rate, int(prefixes[row]), randomness)
    return chosen


def choose_exactly(
    losses: Sequence[int],
    weights: Sequence[int],
    rate: Fraction,
    prefix: int,
    randomness: Randomness,
) -> int:
    """Choose by a uniform real number that begins with the 64 bits of `prefix`.

    The least loss of a candidate with a weight is 0.
    """
    # Each e^-g is off by at most 1, so ends, and the total, by at most all weights; `guard` makes
    # that less than 2^-bits of the total. Each round reads as many bits again as there were.
    all_weights = sum(weights)
    guard = all_weights.bit_length() + 2
    bits = 64
    while True:
        prefix = doubled(prefix, bits, randomness)
        bits *= 2
        heights = {loss: scaled_exp(rate * loss, bits + guard) for loss in set(losses)}
        ends = list(
            accumulate(
                weight and weight * heights[loss]
                for loss, weight in zip(losses, weights, strict=True)
            )
        )
        low = prefix * (ends[-1] - all_weights)
        high = (prefix + 1) * (ends[-1] + all_weights)
        chosen = bisect_right(ends, low >> bits)
        start = ends[chosen - 1] if chosen else 0
        if start + all_weights << bits <= low and high <= ends[chosen] - all_weights << bits:
            return chosen
