"""Randomised weighted majority: in each round an expert, by the losses of the rounds before it.

(Littlestone & Warmuth 1994; as a private mechanism, Dwork & Roth 2014, section 11.2.) In round t
expert i is chosen with probability ∝ e^(-η·Σ_{s<t} ℓ_i(s)), which is the exponential mechanism over
the sums of losses so far. Losses are integers of steps here, and `rate` is η for each step.

What a round loses. On neighbours, let the experts' sums before round t differ by d_1, …, d_k. The
logarithm of the ratio of expert i's two probabilities is -rate·d_i, plus a term that all experts
share and that lies between rate·min d and rate·max d. So it is never further from 0 than
rate·(max d - min d), and over the experts it ranges over at most that: ε for pure, ε²/8 for zCDP by
bounded range (Dong, Durfee & Rogers 2020; Cesar & Rogers 2021, Lemma 3.4). Rounds compose, adaptive
ones too. If all losses are from 0 to w, then a row that is added or removed moves all sums in one
direction, by 0 to w: max d - min d is w. A row that is replaced moves them by -w to w, and it is
2w: there the factor 2 can't be dropped. Losses of a round are read from the next round on, so the
first choice loses nothing.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from dpsql.privacy.directed_rounding import ln
from dpsql.privacy.mechanisms.randomness import Randomness
from dpsql.privacy.mechanisms.selection.exponential import choose

Losses = NDArray[np.object_]

_FARTHEST = 2**61
"""Sums of losses, in steps, beyond those of the best expert; the rest makes no difference."""


class LossMoves(Struct, frozen=True):
    """How far neighbours move two experts' sums of losses apart, in steps, over `rounds` rounds.

    By `per_round` in each round at most, and by `in_all` in all of them. Raises ValueError unless
    there are two rounds, and both are positive.
    """

    rounds: int
    per_round: int
    in_all: int

    def __post_init__(self) -> None:
        if self.rounds < 2 or self.per_round < 1 or self.in_all < 1:
            raise ValueError("there are two rounds or more, and losses that move")

    def before(self, number: int) -> int:
        """The move after `number` rounds, by which the choice of the next one is moved."""
        return min(number * self.per_round, self.in_all)

    @property
    def sum(self) -> int:
        """The moves before each choice, added up."""
        rising, rest = self._rising
        return self.per_round * (rising * (rising + 1) // 2) + rest * self.in_all

    @property
    def sum_of_squares(self) -> int:
        """The squared moves before each choice, added up."""
        rising, rest = self._rising
        squares = rising * (rising + 1) * (2 * rising + 1) // 6
        return self.per_round**2 * squares + rest * self.in_all**2

    @property
    def _rising(self) -> tuple[int, int]:
        """The number of rounds after which the move still rises, and of those left but the last."""
        rising = min(self.rounds - 1, self.in_all // self.per_round)
        return rising, self.rounds - 1 - rising


class WeightedMajority(Struct, frozen=True):
    """Chooses an expert in each round, at `rate` for each step of its losses so far.

    The losses of one row, or of one round of one row, are at most `width` steps apart.
    """

    rate: Fraction
    width: int
    moves: LossMoves

    def __post_init__(self) -> None:
        if self.rate <= 0 or self.width < 1:
            raise ValueError("the rate is positive, and so is the width of losses")

    @property
    def name(self) -> str:
        """The mechanism's name in reports."""
        return "weighted majority"

    @property
    def learning_rate(self) -> Fraction:
        """The rate η for losses from 0 to 1."""
        return self.rate * self.width

    def epsilon(self) -> Fraction:
        """The ε of the choices of all rounds."""
        return self.rate * self.moves.sum

    def rho(self) -> Fraction:
        """The zCDP loss of the choices of all rounds."""
        return self.rate**2 * self.moves.sum_of_squares / 8

    def regret(self, experts: int, rows: int = 1) -> Fraction:
        """A bound on the expected regret of a round, η·n² + ln k/(η·T), for losses from 0 to 1.

        That is how much more is lost, on average over the rounds, than by the best of the experts
        (Dwork & Roth 2014, Theorem 11.1; by Hoeffding's lemma even η·n²/8 would do). A round has
        `rows` rows at most, n, whose losses are added up.
        """
        rate = self.learning_rate
        bound = rate * rows**2 + ln(Fraction(experts)).high / (rate * self.moves.rounds)
        return min(bound, Fraction(rows))  # no choice loses more than all that can be lost

    def choose(self, losses: Losses, randomness: Randomness) -> NDArray[np.int64]:
        """The chosen expert of each round, by `losses` of shape (rounds, experts) in steps."""
        return choose(sums_before(losses), self.rate, randomness)


def sums_before(losses: Losses) -> NDArray[np.int64]:
    """Each expert's losses in the rounds before each round, less those of the best expert so far.

    `losses` has shape (rounds, experts) and Python's integers, of any size. Sums that are farther
    from the least of their round than _FARTHEST count as that far: what is cut at one distance from
    the least moves no further apart than it did.
    """
    before = np.zeros(losses.shape, dtype=object)
    before[1:] = losses[:-1].cumsum(axis=0)
    above = np.minimum(before - before.min(axis=1, keepdims=True), _FARTHEST)
    sums: NDArray[np.int64] = above.astype(np.int64)
    return sums
