"""Noise on parts of integers, of which the nearest integer is released.

A unit's sums that are scaled by a weight below 1 are no integers: they are counted in `parts` of
one. Noise is drawn on the parts, so that it hides fractions of a row, too, and what is rounded
afterwards is noisy already.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Self, assert_never

import numpy as np
from msgspec import Struct

from dpsql.privacy.mechanisms.noise.gaussian import DiscreteGaussian
from dpsql.privacy.mechanisms.noise.laplace import DiscreteLaplace
from dpsql.privacy.mechanisms.noise.rounded_gaussian import RoundedGaussian
from dpsql.privacy.mechanisms.noise.uniform_bits_in_cell import Integers
from dpsql.privacy.mechanisms.randomness import Randomness

_ROUNDING: Fraction = Fraction(1, 12)
"""The variance of a rounding error that is as likely to be any number from -½ to ½."""


class RoundedNoise(Struct, frozen=True):
    """Adds `fine` noise to numbers of parts, and rounds to the nearest of `parts` parts each.

    Its values are numbers of parts, and its results integers. Tails, widths and the variance are
    those of the results, in integers.
    """

    fine: DiscreteLaplace | DiscreteGaussian | RoundedGaussian
    parts: int

    def __post_init__(self) -> None:
        if self.parts < 1:
            raise ValueError("an integer has 1 part at least")

    @classmethod
    def of(cls, noise: DiscreteLaplace | DiscreteGaussian | RoundedGaussian, parts: int) -> Self:
        """The noise that loses as much for a move by `parts` parts as `noise` does by an integer.

        It does so in ρ and μ² of Gaussian noise, the square of a move by the variance, and in ε of
        Laplace noise, a move by the scale.
        """
        match noise:
            case DiscreteGaussian(variance=variance):
                return cls(DiscreteGaussian(variance * parts**2), parts)
            case RoundedGaussian(normal_variance=variance):
                return cls(RoundedGaussian(variance * parts**2), parts)
            case DiscreteLaplace(scale=scale):
                return cls(DiscreteLaplace(scale * parts), parts)
            case missing:
                assert_never(missing)

    @property
    def name(self) -> str:
        """The mechanism's name in reports."""
        return self.fine.name

    @property
    def variance(self) -> Fraction | float:
        """The variance of the results, as far as rounding errors are independent of the noise."""
        return self.fine.variance / self.parts**2 + _ROUNDING

    def release(self, values: Sequence[int], randomness: Randomness) -> list[int]:
        """Return each number of parts with fresh noise, as an integer."""
        noisy = self.fine.release(values, randomness)
        return [(2 * value + self.parts) // (2 * self.parts) for value in noisy]

    def release_vector(self, values: Integers, randomness: Randomness) -> Integers:
        """Return the array of numbers of parts with fresh noise, as integers."""
        noisy = self.fine.release_vector(values, randomness)
        # Not (noisy + parts / 2) // parts: the sum may pass 64 bits where `noisy` doesn't.
        whole, rest = noisy // self.parts, noisy % self.parts
        return np.asarray(whole + (2 * rest >= self.parts), dtype=noisy.dtype)

    def tail(self, at_least: int) -> Fraction:
        """Return a bound of P(result >= value + k), rounded up, whatever the value; for k >= 1.

        What is rounded to k more than a value is less than half an integer from it.
        """
        if at_least < 1:
            raise ValueError("the tail begins at 1")
        return self.fine.tail(self._parts(at_least))

    def tail_point(self, probability: Fraction) -> int:
        """Return the least k >= 1 with tail(k) <= probability."""
        fine = self.fine.tail_point(probability)
        # The least k with (k - ½)·parts, rounded up, of at least `fine`.
        return max(1, math.ceil(Fraction(fine - 1, self.parts) + Fraction(1, 2)))

    def half_width(self, confidence: Fraction) -> int:
        """Return an h with P(|result - value| <= h) >= confidence; the least one, or one more."""
        return math.ceil(Fraction(self.fine.half_width(confidence), self.parts) + Fraction(1, 2))

    def _parts(self, whole: int) -> int:
        """The least number of parts that is rounded to `whole`, or more."""
        return max(1, math.ceil(Fraction((2 * whole - 1) * self.parts, 2)))
