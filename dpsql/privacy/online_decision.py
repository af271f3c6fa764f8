"""Online decisions: which of several experts to follow, round by round, by losses told afterwards.

For data in the caller's own hands; the statement DECIDE is for tables that a ledger is kept of.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Final

import numpy as np
from msgspec import Struct

from dpsql.privacy.accounting.loss import Accounting, PrivacyLoss
from dpsql.privacy.allocation.learning_rate import weighted_majority
from dpsql.privacy.mechanisms.randomness import Randomness, SystemRandomness
from dpsql.privacy.mechanisms.selection.exponential import choose
from dpsql.privacy.mechanisms.selection.weighted_majority import LossMoves, WeightedMajority

_STEPS: Final = 2**20
"""Losses are rounded to so many steps between their bounds."""

Number = float | Fraction


class OnlineDecision:
    """Choose an expert in each of `rounds` rounds, and observe all experts' losses after each.

    Randomised weighted majority (Dwork & Roth 2014, section 11.2): the expert i of a round is drawn
    with probability ∝ e^(-η·(i's losses so far)), exactly.

    The choices of all rounds together are (`epsilon`, `delta`)-differentially private; neighbours
    are two sequences of rounds in one of which the losses of one round are any others, or of
    `rounds_per_unit` rounds. So what is hidden is one round's losses, all experts' together, and
    not who chose, nor how many rounds there are. With delta = 0 that is pure. **No ledger is
    charged**: whoever holds the losses accounts for epsilon and delta, and another run over the
    same losses costs them again.

    Losses are from low to high, the ends of `bounds`: others are clamped, and all are rounded to
    a millionth of that. `randomness` is the operating system's unless it is given, as tests do.

    Raises ValueError for fewer than two experts or two rounds, unless low < high and epsilon > 0,
    for a delta outside [0, 1), and for `rounds_per_unit` below 1.
    """

    def __init__(
        self,
        experts: int,
        rounds: int,
        *,
        epsilon: Number,
        delta: Number = 0,
        bounds: tuple[Number, Number] = (0, 1),
        rounds_per_unit: int = 1,
        randomness: Randomness | None = None,
    ) -> None:
        self._mechanism, self._loss = _calibrated(
            experts, rounds, Fraction(epsilon), Fraction(delta), rounds_per_unit
        )
        self._grid = _Grid.of(bounds)
        self._sums = [0] * experts
        self._observed = 0
        self._chosen = 0
        self._randomness = randomness or SystemRandomness()

    @property
    def learning_rate(self) -> float:
        """The η of losses from 0 to 1: what epsilon and delta allow, and at most √(ln k/T)."""
        return float(self._mechanism.learning_rate)

    @property
    def epsilon(self) -> float:
        """What the choices of all rounds cost: less than was given where η is √(ln k/T)."""
        return float(self._loss.amount)

    @property
    def regret(self) -> float:
        """A bound on the expected regret of a round, in the losses' own unit.

        That is what is lost on average more than by the best expert: (η + ln k/(ηT))·(high - low),
        and what rounding adds.
        """
        bound = self._mechanism.regret(len(self._sums)) + Fraction(1, _STEPS)
        return float(bound * self._grid.width)

    def choose(self) -> int:
        """The index of this round's expert, by the losses of the rounds before it.

        Raises ValueError where this round's expert was chosen, and after the last round.
        """
        if self._chosen > self._observed:
            raise ValueError("observe this round's losses before the next choice")
        if self._observed == self._mechanism.moves.rounds:
            raise ValueError("all rounds are over: no more choices were paid for")
        self._chosen = self._observed + 1
        lowest = min(self._sums)
        (expert,) = choose(
            [each - lowest for each in self._sums], self._mechanism.rate, self._randomness
        )
        return int(expert)

    def observe(self, losses: Iterable[Number]) -> None:
        """The losses of all experts in this round, after which the next one begins.

        A round may be observed without a choice. Raises ValueError for NaN, for losses of more or
        fewer experts, and after the last round.
        """
        if self._observed == self._mechanism.moves.rounds:
            raise ValueError("all rounds are over")
        steps = self._grid.steps(losses, len(self._sums))
        self._sums = [total + step for total, step in zip(self._sums, steps, strict=True)]
        self._observed += 1


def decide(
    losses: Sequence[Sequence[Number]],
    *,
    epsilon: Number,
    delta: Number = 0,
    bounds: tuple[Number, Number] = (0, 1),
    rounds_per_unit: int = 1,
    randomness: Randomness | None = None,
) -> list[int]:
    """Choose an expert in each round of `losses`, by the losses of the rounds before it alone.

    `losses` has a row for each round, with a loss for each expert; the answer has an index of an
    expert for each round. What it promises, and what the other arguments mean, is said at
    `OnlineDecision`, of which this is a whole run, in less time. Raises ValueError as that does,
    and for rounds of different lengths.
    """
    experts = len(losses[0]) if len(losses) else 0
    mechanism, _ = _calibrated(
        experts, len(losses), Fraction(epsilon), Fraction(delta), rounds_per_unit
    )
    grid = _Grid.of(bounds)
    steps = np.array([grid.steps(each, experts) for each in losses], dtype=object)
    chosen: list[int] = mechanism.choose(steps, randomness or SystemRandomness()).tolist()
    return chosen


def _calibrated(
    experts: int, rounds: int, epsilon: Fraction, delta: Fraction, rounds_per_unit: int
) -> tuple[WeightedMajority, PrivacyLoss]:
    """The mechanism and its loss, as said at `OnlineDecision`."""
    if experts < 2 or rounds < 2:
        raise ValueError("a decision is among two experts or more, over two rounds or more")
    if rounds_per_unit < 1 or epsilon <= 0:
        raise ValueError("ε is positive, and so is the number of rounds that may differ")
    # A round that differs may take a loss of 1 from one expert and give it to another.
    moves = LossMoves(rounds, 2 * _STEPS, 2 * _STEPS * rounds_per_unit)
    claim = PrivacyLoss(Accounting.APPROX, epsilon, delta)
    return weighted_majority(experts, _STEPS, moves, claim)


class _Grid(Struct, frozen=True):
    """Losses from `low` to `high` in _STEPS steps."""

    low: Fraction
    high: Fraction

    @classmethod
    def of(cls, bounds: tuple[Number, Number]) -> _Grid:
        low, high = (Fraction(end) for end in bounds)
        if low >= high:
            raise ValueError("the lowest loss is less than the highest")
        return cls(low, high)

    @property
    def width(self) -> Fraction:
        return self.high - self.low

    def steps(self, losses: Iterable[Number], experts: int) -> list[int]:
        """A round's losses, clamped and rounded, each from 0 to _STEPS."""
        exact = [x if isinstance(x, Fraction | int) else float(x) for x in losses]
        if len(exact) != experts:
            raise ValueError("each expert has one loss in each round")
        if any(isinstance(loss, float) and math.isnan(loss) for loss in exact):
            raise ValueError("NaN is no loss")
        # Infinities are beyond the bounds, and no fractions.
        inside = [Fraction(min(max(loss, self.low), self.high)) for loss in exact]
        return [round((each - self.low) * _STEPS / self.width) for each in inside]
