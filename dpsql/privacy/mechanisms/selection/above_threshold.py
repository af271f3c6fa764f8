"""The sparse vector technique: the first of many integers that are above a threshold, in order.

(Dwork & Roth 2014, section 3.6; Lyu, Su & Li 2017, Algorithm 1; with noise of one side, as Liu et
al. 2024, "Sparse vector technique with exponential noise".) Of each integer it is known by how much
it is short of its own threshold, 0 or less where it isn't short. One number z is drawn for all of
them, P(z) ∝ e^-(threshold_rate·z) over z = 0, 1, …, and kept. Integer i is named with probability
e^-(query_rate·max(0, short_i + z + offset)): that is the probability that geometric noise of its
own, from 0 up, lifts it over the threshold that z raised. After so many names as `firings` nothing
more is said; what was passed over before wasn't named. An offset that nothing private has a part in
makes both errors alike.

What it loses. Let neighbours move what is short by -d_i, each d_i from -down to up, and let
span = up + down be as large as this sum ever is. Raise z by up in the neighbour: its probability is
smaller by a factor of e^(threshold_rate·up) at most. At z + up nothing that was passed over is
named more probably than before, for short_i - d_i + z + up >= short_i + z. What was named is by a
factor of e^(query_rate·(up + down)) less probable at most, for short_i - d_i + z + up is no more
than short_i + z + span. So over all names together
    ln P(answer)/P'(answer) <= threshold_rate·up + firings·query_rate·span,
and in the other direction the same with down in place of up: how many integers there are, and how
many of them move, makes no difference. The largest of up and down, `reach`, is the ε; and as both
bounds hold, the logarithm ranges over threshold_rate·span + 2·firings·query_rate·span, which is
that squared, by 8, of zCDP (bounded range: Dong, Durfee & Rogers 2020; Cesar & Rogers 2021, Lemma
3.4). A unit that comes or goes moves counts one way alone: then reach and span are the same. One
that is replaced by another moves them by its rows one way and by the other's the other way: then
the span is twice the reach.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from dpsql.privacy.accounting.loss import Accounting
from dpsql.privacy.directed_rounding import ln
from dpsql.privacy.mechanisms.noise.sampler import discrete_laplace
from dpsql.privacy.mechanisms.randomness import Randomness
from dpsql.privacy.mechanisms.selection.acceptance import accepted
from dpsql.privacy.mechanisms.selection.exponential import amount_of_range

Shortfalls = NDArray[np.object_]

_FARTHEST = 2**61
"""What is short by more counts as that short: cut so, nothing moves further than it did."""


class ThresholdMoves(Struct, frozen=True):
    """How far neighbours move what is short of its threshold.

    By `reach` in either direction at most, and by `span` in both together. Raises ValueError unless
    both are positive, and reach is no more than span.
    """

    reach: int
    span: int

    def __post_init__(self) -> None:
        if not 1 <= self.reach <= self.span:
            raise ValueError("what moves has a reach of one step or more, within its span")


class AboveThreshold(Struct, frozen=True):
    """Names the first `firings` integers that are above their thresholds, one of each at most."""

    threshold_rate: Fraction
    query_rate: Fraction
    firings: int
    moves: ThresholdMoves
    offset: int

    def __post_init__(self) -> None:
        if self.threshold_rate <= 0 or self.query_rate <= 0 or self.firings < 1:
            raise ValueError("rates are positive, and something is named")

    @property
    def name(self) -> str:
        """The mechanism's name in reports."""
        return "sparse vector"

    def epsilon(self) -> Fraction:
        """The ε of all that is said."""
        named = self.firings * self.query_rate * self.moves.span
        return self.threshold_rate * self.moves.reach + named

    @property
    def loss_range(self) -> Fraction:
        """How far apart logarithms of the ratios of its probabilities are on two neighbours."""
        named = self.firings * self.query_rate * self.moves.span
        return self.threshold_rate * self.moves.span + 2 * named

    def rho(self) -> Fraction:
        """The zCDP loss of all that is said, by its bounded range."""
        return amount_of_range(self.loss_range, Accounting.ZCDP)

    def error(self, queries: int, confidence: Fraction) -> Fraction:
        """How far off its threshold an answer may be, of any of so many integers.

        At this confidence nothing is named that is short by more, and nothing is passed over that
        is above by as much. Half of what is missing to it is given to the threshold, and half to
        all integers together.
        """
        raised, lifted = _tails(self.threshold_rate, self.query_rate, queries, confidence)
        return max(raised + self.offset, lifted - self.offset, Fraction(0))

    def named(self, short: Shortfalls, randomness: Randomness) -> NDArray[np.int64]:
        """The indices of what is named, in order, of how much each is `short`, in any integers."""
        raised = geometric(self.threshold_rate, randomness) + self.offset
        above = np.minimum(np.maximum(short + raised, 0), _FARTHEST).astype(np.int64)
        lifted: NDArray[np.int64] = accepted(above, self.query_rate, randomness).nonzero()[0]
        return lifted[: self.firings]


def even_offset(
    threshold_rate: Fraction, query_rate: Fraction, queries: int, confidence: Fraction
) -> int:
    """The offset by which what is named is short by as much as what is passed over is above."""
    raised, lifted = _tails(threshold_rate, query_rate, queries, confidence)
    return round((lifted - raised) / 2)


def geometric(rate: Fraction, randomness: Randomness) -> int:
    """A draw with P(z) ∝ e^-(rate·z) over z = 0, 1, …: Laplace noise that isn't negative."""
    while True:
        for draw in discrete_laplace(1 / rate, 8, randomness).tolist():
            if draw >= 0:
                return int(draw)


def _tails(
    threshold_rate: Fraction, query_rate: Fraction, queries: int, confidence: Fraction
) -> tuple[Fraction, Fraction]:
    """What the threshold's noise, and that of any integer, is no more than at this confidence."""
    missed = (1 - confidence) / 2
    return ln(1 / missed).high / threshold_rate, ln(queries / missed).high / query_rate
