"""Discrete Gaussian noise: P(x) ∝ e^(-x²/(2·variance)) on the integers.

(Canonne, Kamath & Steinke 2020, "The Discrete Gaussian for Differential Privacy".)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist

from msgspec import Struct

from dpsql.privacy.directed_rounding import sqrt
from dpsql.privacy.mechanisms.mechanism import (
    add_noise,
    add_noise_vector,
    check_integers,
    check_tail,
    tail_probability,
)
from dpsql.privacy.mechanisms.noise.gaussian_tail import gaussian_tail
from dpsql.privacy.mechanisms.noise.integer_search import first_true
from dpsql.privacy.mechanisms.noise.sampler import check_parameter, discrete_gaussian
from dpsql.privacy.mechanisms.noise.uniform_bits_in_cell import Integers
from dpsql.privacy.mechanisms.randomness import Randomness


class DiscreteGaussian(Struct, frozen=True):
    """Adds discrete Gaussian noise to each coordinate.

    The noise's true variance is at most the parameter `variance` (CKS 2020, Corollary 9).
    """

    variance: Fraction

    def __post_init__(self) -> None:
        check_parameter(self.variance)

    @property
    def name(self) -> str:
        """The mechanism's name in reports."""
        return "gaussian"

    def rho(self, l2_squared: int | Fraction) -> Fraction:
        """Return the zCDP loss if neighbours' values differ by l2² = l2_squared: l2²/(2·variance).

        It is exact for independent coordinates and integer moves (CKS 2020, Theorem 14). Raises
        ValueError for a negative sensitivity.
        """
        if l2_squared < 0:
            raise ValueError("a sensitivity is at least 0")
        return Fraction(l2_squared) / (2 * self.variance)

    def release(self, values: Sequence[int], randomness: Randomness) -> list[int]:
        """Return each value with fresh noise; anything but an int is a TypeError."""
        check_integers(values)
        return add_noise(values, discrete_gaussian(self.variance, len(values), randomness))

    def release_vector(self, values: Integers, randomness: Randomness) -> Integers:
        """Return the array with fresh noise; its type is int64, or object for Python integers."""
        return add_noise_vector(values, discrete_gaussian(self.variance, values.size, randomness))

    def tail(self, at_least: int) -> Fraction:
        """Return P(noise >= at_least), rounded up; for at_least >= 1."""
        return gaussian_tail(self.variance, at_least)

    def tail_point(self, probability: Fraction) -> int:
        """Return the least k >= 1 with tail(k) <= probability."""
        check_tail(probability)
        return _tail_point(self.variance, probability)

    def half_width(self, confidence: Fraction) -> int:
        """Return the least h with P(|noise| <= h) >= confidence; by `tail`, perhaps one more."""
        return self.tail_point(tail_probability(confidence)) - 1


@lru_cache(maxsize=1024)
def _tail_point(variance: Fraction, probability: Fraction) -> int:
    if 2 * probability >= 1:
        return 1  # P(noise >= 1) is below ½, by symmetry
    # The point of the normal law; the search corrects it.
    normal = Fraction(-NormalDist().inv_cdf(float(probability)))
    guess = math.ceil(normal * sqrt(variance).high + Fraction(1, 2))
    return first_true(lambda k: gaussian_tail(variance, k) <= probability, guess)
