"""A ladder: how many units contribute how much, as a noisy histogram; and its top."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Final, assert_never

from msgspec import Struct

from dpsql.privacy.mechanisms.noise.gaussian import DiscreteGaussian
from dpsql.privacy.mechanisms.noise.laplace import DiscreteLaplace
from dpsql.privacy.mechanisms.noise.noise import IndependentNoise
from dpsql.privacy.mechanisms.noise.rounded_gaussian import RoundedGaussian

TOP_FAILS: Final = 1e-4
"""At most so probable is a top above all units."""

_WINDOWS: Final = (1, 2, 4, 8, 16)
"""Counts of so many neighbouring rungs are summed: a few units in each of several rungs show."""

_LARGEST: Final = 2**900
"""Rungs are up to this, so that floats hold sums of them."""

_NOISIEST: Final = 2**200
"""Noise has a variance up to this."""


class Ladder(Struct, frozen=True):
    """Noisy counts of units by the magnitude of what each contributes.

    `counts[k]` counts the units in (`rungs[k - 1]`, `rungs[k]`] and has noise of its own from
    `noise`. Rung 0 is 0 and counts those that contribute nothing; rung 1 also has all smaller
    magnitudes, the last all larger ones. `step` is the grid of the magnitudes, 0 where it is too
    fine to matter: over integers the rung (4, 6] has 5 and 6.

    Counts are any integers, as noise makes them. Raises ValueError unless there are as many counts
    as rungs, two at least, which begin at 0 and increase strictly, from 2^-900 up to 2^900, and for
    noise of a variance above 2^200.
    """

    counts: tuple[int, ...]
    rungs: tuple[Fraction, ...]
    noise: IndependentNoise
    step: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if len(self.counts) != len(self.rungs) or len(self.rungs) < 2:
            raise ValueError("a ladder has a count for each of its rungs, two at least")
        if self.rungs[0] != 0 or any(low >= high for low, high in pairwise(self.rungs)):
            raise ValueError("rungs begin at 0 and increase strictly")
        if self.rungs[1] < Fraction(1, _LARGEST) or self.rungs[-1] > _LARGEST:
            raise ValueError("rungs are between 2^-900 and 2^900")
        if not 0 <= self.step <= self.rungs[1]:
            raise ValueError("a ladder's step is at most its first rung")
        if self.noise.variance > _NOISIEST:
            raise ValueError("a ladder's noise has a variance up to 2^200")

    def top(self) -> int:
        """Return a rung, with probability 1 - `TOP_FAILS` none above the highest that has a unit.

        It is the highest from which on so many rungs together count more than noise would, with
        that probability; 0 if there is none.
        """
        # Let h be the highest rung that has a unit. A window that begins above h sums noise alone,
        # and reaches its margin with probability q at most. There are at most len(_WINDOWS) windows
        # a rung, and q is TOP_FAILS over them all: with probability 1 - TOP_FAILS none of those
        # above h reaches its own. The top is the first rung of one that does, so not above h. ∎
        windows = len(_WINDOWS) * len(self.counts)
        top = 0
        for width in _WINDOWS:
            bound = margin(self.noise, width, TOP_FAILS / windows)
            for first in range(len(self.counts) - width, top, -1):
                if sum(self.counts[first : first + width]) >= bound:
                    top = first
                    break
        return top


@lru_cache(maxsize=256)
def margin(noise: IndependentNoise, terms: int, probability: float) -> float:
    """Return a bound that the sum of so many draws reaches with `probability` at most."""
    # Chernoff: P(sum >= m) <= e^(-t·m)·M(t)^terms for every t > 0, where M is the moment generating
    # function of one draw. So any (terms·ln M(t) - ln probability)/t is such a bound.
    unlikely = -math.log(probability)
    match noise:
        case DiscreteLaplace():
            rate = laplace_rate(noise)
            inner = (rate * part / 64 for part in range(1, 64))
            return min((terms * _log_moment(rate, t) + unlikely) / t for t in inner)
        case DiscreteGaussian(variance=variance):
            # M(t) = e^(t²·v/2) · Σ e^(-(x - t·v)²/2v) / Σ e^(-x²/2v), and of all shifts a sum over
            # the integers is largest at 0 (Poisson's summation: its Fourier terms are positive).
            return math.sqrt(2 * terms * float(variance) * unlikely)
        case RoundedGaussian(normal_variance=normal):
            # Likewise, of a uniform shift u: M(t) <= e^(t²·v/2) · C · (mean of e^(t·u)), where C is
            # the sum of e^(-2π²k²v) over all k, below 1 + 1/√(2πv), and the mean below e^(t²/24).
            v = float(normal)
            step = math.exp(-2 * math.pi**2 * v)
            excess = min(2 * step / (1 - step), 1 / math.sqrt(2 * math.pi * v))
            unlikely += terms * math.log1p(excess)
            return math.sqrt(2 * terms * float(noise.variance) * unlikely)
        case missing:
            assert_never(missing)


def laplace_rate(noise: DiscreteLaplace) -> float:
    """Return 1/scale, up to 300: what floats can take hyperbolic functions of."""
    return float(1 / max(noise.scale, Fraction(1, 300)))


def _log_moment(rate: float, t: float) -> float:
    """The logarithm of M(t) of discrete Laplace noise, for 0 < t < rate.

    M(t) is (1 - p)²/((1 - p·e^t)(1 - p·e^-t)) with p = e^-rate, which is (cosh a - 1)/(cosh a -
    cosh t) with a = rate; and cosh x - cosh y is 2·sinh((x + y)/2)·sinh((x - y)/2).
    """
    above, below = math.sinh((rate + t) / 2), math.sinh((rate - t) / 2)
    return 2 * math.log(math.sinh(rate / 2)) - math.log(above) - math.log(below)
