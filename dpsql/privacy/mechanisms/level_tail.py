"""How far off the integers of a law by levels are: in doubles, which tell errors and nothing else.

What is drawn, and what that loses, is exact (`level_law`), and so is a tail that is asked for as
such: of an answer's error a billionth is far more than anybody reads.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from dpsql.privacy.mechanisms.level_law import BITS, LevelLaw, bits_of_tail, listed, log_weights

Doubles = NDArray[np.float64]


# All columns of a draw ask for those of its law, first to choose it and then to tell its errors.
@lru_cache(maxsize=16)
def probabilities(law: LevelLaw, bits: int = BITS) -> Doubles:
    """The probabilities of the levels; those that aren't listed are 2^-bits together, or less."""
    # Logarithms are of numbers below 2^(2^14), and off by 2^-36 at most: so much of itself is each.
    last, largest = listed(law, bits)
    weights = np.exp2(log_weights(law, np.arange(last + 1)) - largest)
    weights /= weights.sum()
    weights.flags.writeable = False
    return weights


def bits_of_confidence(confidence: Fraction) -> int:
    """In how many bits levels are listed for the half-width of `confidence`.

    Raises ValueError unless 0 <= confidence < 1.
    """
    if not 0 <= confidence < 1:
        raise ValueError("a confidence is at least 0 and below 1")
    return bits_of_tail((1 - confidence) / 2)


class Tail(Struct, frozen=True):
    """P(noise >= k), which is `heights[i]` - k·`slopes[i]` from behind the end before to `ends[i]`.

    Ends are ascending; of equal ones it is that of the first.
    """

    ends: Doubles
    heights: Doubles
    slopes: Doubles

    def half_width(self, confidence: Fraction) -> int:
        """Return the least h with P(|noise| <= h) >= confidence; of a large one to a billionth."""
        probability = float((1 - confidence) / 2)
        # Where more is left at an end than is wanted, so is at all that are before it, or equal.
        more = int(np.count_nonzero(self.heights - self.ends * self.slopes > probability))
        before = self.ends[more - 1] if more else -1.0
        first = min(int(self.ends.searchsorted(before, side="right")), self.ends.size - 1)
        slope = self.slopes[first]
        point = (self.heights[first] - probability) / slope if slope else 0.0
        return max(math.ceil(point), int(before) + 1, 1) - 1


def sums_from(values: Doubles) -> Doubles:
    """The sum of the values from each on."""
    return np.cumsum(values[::-1])[::-1]
