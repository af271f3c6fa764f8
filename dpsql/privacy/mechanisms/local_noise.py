"""Local noise: each person adds Laplace noise to a number before it is collected.

(Dwork, McSherry, Nissim & Smith 2006; in the local model of Kasiviswanathan et al. 2011.) The
number is hidden from whoever collects it; who sent one, and how many, is not. Sums of n such
numbers are unbiased, with a standard deviation of √(2n)·(high - low)/ε.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Final

from msgspec import Struct

from dpsql.privacy.mechanisms.noise.laplace import DiscreteLaplace
from dpsql.privacy.mechanisms.randomness import Randomness, SystemRandomness

_STEPS: Final = 2**20
"""Numbers are rounded to so many steps between their bounds before noise is added."""

_SCALES: Final = 10
"""Of the noise, 1 in 22,000 lies so many scales away from 0, or further."""


class LocalNoise(Struct, frozen=True):
    """Laplace noise of loss `epsilon` on a number from `low` to `high`.

    Raises ValueError unless low < high and ε is positive.
    """

    epsilon: Fraction
    low: Fraction
    high: Fraction

    def __post_init__(self) -> None:
        if self.epsilon <= 0:
            raise ValueError("ε is positive")
        if self.low >= self.high:
            raise ValueError("the lowest number is less than the highest")

    @property
    def scale(self) -> Fraction:
        """The scale of the noise, (high - low)/ε."""
        return (self.high - self.low) / self.epsilon

    @property
    def variance(self) -> Fraction:
        """That of continuous Laplace noise, 2·scale²; discrete noise has no more."""
        return 2 * self.scale**2

    @property
    def bounds(self) -> tuple[Fraction, Fraction]:
        """What noisy numbers are clamped to: ten scales beyond the numbers' own bounds.

        A number at its bound is moved inwards by scale·e^(-10)/2 in expectation, 1/44,000 of the
        scale.
        """
        return self.low - _SCALES * self.scale, self.high + _SCALES * self.scale

    def release(self, values: Iterable[Fraction], randomness: Randomness) -> list[Fraction]:
        """Add noise to each value, which is clamped and rounded to a grid first.

        The grid is the same for all values, and noise is drawn in whole steps of it, so that no
        digit of a noisy number tells of the true one.
        """
        step = (self.high - self.low) / _STEPS
        steps = [round((min(max(x, self.low), self.high) - self.low) / step) for x in values]
        noisy = DiscreteLaplace(_STEPS / self.epsilon).release(steps, randomness)
        return [self.low + step * each for each in noisy]


def add_local_noise(
    values: Iterable[float | Fraction],
    *,
    epsilon: float | Fraction,
    bounds: tuple[float | Fraction, float | Fraction],
    randomness: Randomness | None = None,
) -> list[float]:
    """Add Laplace noise of loss `epsilon` to each of `values`, for a column with `local_noise`.

    Values beyond `bounds`, [low, high], are clamped first. Whoever the numbers are of runs this
    before they are sent; each call on the same number loses `epsilon` again. `randomness` is the
    operating system's unless it is given, as tests do.

    Raises ValueError for NaN, for an ε that isn't positive, and unless low < high.
    """
    exact = list(values)
    if any(isinstance(value, float) and math.isnan(value) for value in exact):
        raise ValueError("NaN is no number that noise can hide")
    low, high = (Fraction(end) for end in bounds)
    noise = LocalNoise(Fraction(epsilon), low, high)
    # Infinities are beyond the bounds, and no fractions.
    inside = [Fraction(min(max(value, low), high)) for value in exact]
    return list(map(float, noise.release(inside, randomness or SystemRandomness())))
