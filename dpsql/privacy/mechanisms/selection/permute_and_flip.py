"""Permute-and-flip: in random order, each candidate is taken with probability e^-(rate·loss).

(McKenna & Sheldon 2020, "Permute-and-Flip: A New Mechanism for Differentially Private Selection".)
Losses count from the best candidate, which is taken when its turn comes. Draws are exact. The
mechanism is never worse than the exponential mechanism for the same ε, and up to twice as good; but
its loss under zCDP is that of any ε-DP mechanism, nearly four times as much.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import assert_never

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from dpsql.privacy.accounting.loss import Accounting, PrivacyLoss
from dpsql.privacy.accounting.pure_conversion import mu_squared_of_pure
from dpsql.privacy.directed_rounding import exp, round_up
from dpsql.privacy.mechanisms.randomness import Randomness, words
from dpsql.privacy.mechanisms.selection.acceptance import accepted
from dpsql.privacy.mechanisms.selection.candidates import Candidates, Table, check_selection


class PermuteAndFlip(Struct, frozen=True):
    """Chooses with rate ε/spread; `spread` as for the exponential mechanism.

    That is twice the largest move of a loss, or once if all losses of a vector move in the same
    direction (McKenna & Sheldon 2020).
    """

    epsilon: Fraction
    spread: int

    def __post_init__(self) -> None:
        check_selection(self.epsilon, self.spread)

    @property
    def name(self) -> str:
        """The mechanism's name in reports."""
        return "permute-and-flip"

    @property
    def rate(self) -> Fraction:
        """The rate at which the logarithm of a probability falls with the loss."""
        return self.epsilon / self.spread

    def rho(self) -> Fraction:
        """Return the zCDP loss of one choice, rounded up: that of any ε-DP mechanism."""
        return rho_of_pure(self.epsilon)

    def loss(self, accounting: Accounting) -> PrivacyLoss:
        """Return the privacy loss of one choice: ε, ρ under ZCDP, or μ² under GDP."""
        match accounting:
            case Accounting.PURE | Accounting.APPROX:
                return PrivacyLoss(accounting, self.epsilon)
            case Accounting.ZCDP:
                return PrivacyLoss(accounting, self.rho())
            case Accounting.GDP:
                return PrivacyLoss(accounting, mu_squared_of_pure(self.epsilon))
            case missing:
                assert_never(missing)

    def choose(self, losses: Table, randomness: Randomness) -> NDArray[np.int64]:
        """Return the index that is chosen in each row of losses; see `permute_and_flip`."""
        return permute_and_flip(losses, self.rate, randomness)


def rho_of_pure(epsilon: Fraction) -> Fraction:
    """Return ε·tanh(ε/2), rounded up: the zCDP loss of every ε-DP mechanism, reached by some.

    Any two laws with ε between them come from those of binary randomised response (Kairouz, Oh &
    Viswanath 2015, Theorem 8), whose Rényi divergences laplace.py bounds, with d = 1.
    """
    power = exp(-epsilon, 60 + len(str(epsilon.denominator))).low
    return round_up(epsilon * (1 - power) / (1 + power))


def permute_and_flip(
    losses: Table, rate: Fraction, randomness: Randomness, present: Table | None = None
) -> NDArray[np.int64]:
    """Return for each row of `losses` the index that permute-and-flip of this rate chooses.

    Losses are as for the exponential mechanism. `present`, of 0 and 1, leaves candidates out.
    """
    parts = [_choose(part, rate, randomness) for part in Candidates.of(losses, present).parts()]
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)


def _choose(candidates: Candidates, rate: Fraction, randomness: Randomness) -> NDArray[np.int64]:
    # The flips don't depend on the order, so all are made, and each candidate's turn comes at a
    # uniform time, of which 64 bits are drawn; equal ones that are first are told apart by more.
    taken = accepted(candidates.above_minimum(), rate, randomness)
    if candidates.weights is not None:
        taken &= candidates.weights > 0
    turns = words(randomness, taken.size, 64).reshape(taken.shape)
    first = np.where(taken, turns, np.iinfo(np.uint64).max).min(axis=1, keepdims=True)
    leading = taken & (turns == first)
    chosen: NDArray[np.int64] = leading.argmax(axis=1)
    for row in (leading.sum(axis=1) > 1).nonzero()[0]:
        chosen[row] = _first_of(leading[row].nonzero()[0].tolist(), randomness)
    return chosen


def _first_of(indices: Sequence[int], randomness: Randomness) -> int:
    """Return one of the indices, whose turns are equal so far, all with the same probability."""
    while len(indices) > 1:
        turns = words(randomness, len(indices), 64).tolist()
        first = min(turns)
        indices = [index for index, turn in zip(indices, turns, strict=True) if turn == first]
    return indices[0]
