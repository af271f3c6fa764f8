"""The sparse vector technique over time: of integers that come again and again, the first above.

(Dwork & Roth 2014, section 3.6, where queries are a stream that is chosen as one goes.) One number
raises all thresholds, drawn once and kept secret; each time the integers come, those that are tried
are lifted by noise of their own, as `above_threshold` has it, up to the first that is named. After
so many names as `firings` nothing is tried any more: who keeps the number counts them.

What it loses. The integers of all times, in their order, are one sequence, and each is tried once,
with noise of its own: who is told that nothing was named learns just that all of that time were
passed over. So the theorem of `above_threshold` is that of the whole stream. It asks for two
things. What is tried at a time may depend on all that was said before, but not on the number: for
each sequence of answers the integers are then given, and the ratio of its two probabilities is that
of one vector. And at each time the two databases are neighbours, so that what is short moves by no
more than `moves` has it; how much either of them changed from one time to the next makes no
difference, nor in how many of them the unit is.

Other answers come in between, and what is asked may depend on all of them. For each sequence of all
answers the probability is a product: that of the names, which is a sum over the number, times those
of the others, on which the number has no influence. So of pure losses the sum bounds the ratio. Of
zCDP and GDP: filters that hold for mechanisms one after another hold for interactive ones side by
side (Lyu 2022; Haney et al. 2023, "Concurrent composition for interactive differential privacy with
adaptive privacy-loss parameters").
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from dpsql.privacy.mechanisms.randomness import Randomness
from dpsql.privacy.mechanisms.selection.above_threshold import AboveThreshold, Shortfalls
from dpsql.structs import not_shown


@not_shown("raised")
class ThresholdStream(Struct, frozen=True):
    """Names the first integer that is above its threshold, each time that they come.

    `mechanism` has the rates, and says how often something is named in all; its error is that of
    all integers of so many `checks`. `raised` is what raises all thresholds, offset included; None
    before it is drawn.
    """

    mechanism: AboveThreshold
    checks: int
    raised: int | None = None

    @property
    def name(self) -> str:
        """The mechanism's name in reports."""
        return self.mechanism.name

    def named(self, short: Shortfalls, randomness: Randomness) -> NDArray[np.int64]:
        """The index of what is named, if anything is, of how much each is `short` now."""
        if self.raised is None:
            raise ValueError("the thresholds' noise is drawn before anything is compared")
        return self.mechanism.lifted(short, self.raised, randomness)[:1]
