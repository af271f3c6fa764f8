"""Gaussian noise that is rounded: N(x, variance) to the nearest integer, for integers x.

To an integer x a real draw of the normal law is added, and the nearest integer is released. As x is
an integer, that is x plus the rounded draw, so the rounded draw is all that is ever made.
Rounding is postprocessing, so the release has the loss of Gaussian noise itself and no more: where
neighbours' values differ by v, it is √(Σ v²/variance)-GDP (Dong, Roth & Su 2022, Theorem 1).
Discrete Gaussian noise of the same variance isn't, though it has the same ρ.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from msgspec import Struct

from dpsql.privacy.directed_rounding import round_up, sqrt
from dpsql.privacy.mechanisms.mechanism import (
    add_noise,
    add_noise_vector,
    check_integers,
    check_tail,
    tail_probability,
)
from dpsql.privacy.mechanisms.noise.integer_search import first_true
from dpsql.privacy.mechanisms.noise.normal_sampler import rounded_normal
from dpsql.privacy.mechanisms.noise.sampler import check_parameter
from dpsql.privacy.mechanisms.noise.uniform_bits_in_cell import Integers
from dpsql.privacy.mechanisms.randomness import Randomness
from dpsql.privacy.normal_law import tail_point, upper_tail

_ROUNDING = Fraction(1, 12)


class RoundedGaussian(Struct, frozen=True):
    """Adds rounded Gaussian noise to each coordinate; `normal_variance` is that before rounding."""

    normal_variance: Fraction

    def __post_init__(self) -> None:
        check_parameter(self.normal_variance)

    @property
    def name(self) -> str:
        """The mechanism's name in reports."""
        return "rounded gaussian"

    @property
    def variance(self) -> Fraction:
        """A bound of the noise's variance, that of the normal law and of a uniform rounding error.

        By Poisson's summation the two differ by Σ (-1)^k·e^(-2π²k²v)·(4v + 1/(π²k²)) over k >= 1,
        whose terms fall and begin below 0. From ½ on that is less than one part in 1,000.
        """
        return self.normal_variance + _ROUNDING

    def mu_squared(self, l2_squared: int | Fraction) -> Fraction:
        """Return μ² if neighbours' values differ by l2² = l2_squared: l2²/normal_variance.

        Raises ValueError for a negative sensitivity.
        """
        if l2_squared < 0:
            raise ValueError("a sensitivity is at least 0")
        return Fraction(l2_squared) / self.normal_variance

    def release(self, values: Sequence[int], randomness: Randomness) -> list[int]:
        """Return each value with fresh noise; anything but an int is a TypeError."""
        check_integers(values)
        return add_noise(values, rounded_normal(self.normal_variance, len(values), randomness))

    def release_vector(self, values: Integers, randomness: Randomness) -> Integers:
        """Return the array with fresh noise; its type is int64, or object for Python integers."""
        return add_noise_vector(
            values, rounded_normal(self.normal_variance, values.size, randomness)
        )

    def tail(self, at_least: int) -> Fraction:
        """Return P(noise >= at_least), rounded up; for at_least >= 1."""
        if at_least < 1:
            raise ValueError("the tail begins at 1")
        start = Fraction(2 * at_least - 1, 2) / sqrt(self.normal_variance).high
        return round_up(upper_tail(start).high)

    def tail_point(self, probability: Fraction) -> int:
        """Return the least k >= 1 with tail(k) <= probability."""
        check_tail(probability)
        point = tail_point(probability) * sqrt(self.normal_variance).high
        return first_true(lambda k: self.tail(k) <= probability, math.ceil(point + Fraction(1, 2)))

    def half_width(self, confidence: Fraction) -> int:
        """Return the least h with P(|noise| <= h) >= confidence; by `tail`, perhaps one more."""
        return self.tail_point(tail_probability(confidence)) - 1
