"""What a mechanism promises: integers in, integers out, a known tail."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Protocol

import numpy as np

from dpsql.privacy.mechanisms.noise.uniform_bits_in_cell import Integers
from dpsql.privacy.mechanisms.randomness import Randomness


class Mechanism(Protocol):
    """Adds to each integer of a vector independent noise, symmetric about 0."""

    @property
    def name(self) -> str:
        """What users call it."""

    @property
    def variance(self) -> Fraction | float:
        """The noise's variance, or a bound it never exceeds and, from ½ on, comes within 1 % of."""

    def release(self, values: Sequence[int], randomness: Randomness) -> list[int]:
        """Return each value with fresh noise; anything but an int is a TypeError."""

    def release_vector(self, values: Integers, randomness: Randomness) -> Integers:
        """Return the same of an array: of int64, or of Python integers."""

    def tail(self, at_least: int) -> Fraction:
        """Return P(noise >= at_least), rounded up; for at_least >= 1."""

    def tail_point(self, probability: Fraction) -> int:
        """Return the least k >= 1 with tail(k) <= probability."""

    def half_width(self, confidence: Fraction) -> int:
        """Return the least h with P(|noise| <= h) >= confidence."""


# Tails are rounded up to no less than 10^-500; no one asks for less than this.
SMALLEST_TAIL = Fraction(1, 10**300)


def add_noise(values: Sequence[int], noise: Integers) -> list[int]:
    """Return the sums, as Python integers of any size."""
    return [value + draw for value, draw in zip(values, noise.tolist(), strict=True)]


def add_noise_vector(values: Integers, noise: Integers) -> Integers:
    """Return the sums: of int64 where that holds them, else of Python integers of any size."""
    if values.dtype == object:
        check_integers(values.tolist())
    elif values.dtype != np.int64:
        raise TypeError("mechanisms take integers only")
    if object in (values.dtype, noise.dtype) or not _are_small(values):
        return np.asarray(values.astype(object) + noise.astype(object), dtype=object)
    return np.asarray(values + noise)  # int64 noise is below 2^62


def _are_small(values: Integers) -> bool:
    return not values.size or bool(values.min() > -(2**62) and values.max() < 2**62)


def check_integers(values: Sequence[int]) -> None:
    """Refuse what is not exactly int: NaN must never become a number, nor True a 1."""
    if any(type(value) is not int for value in values):
        raise TypeError("mechanisms take integers only")


def check_tail(probability: Fraction) -> None:
    """Refuse tails that never come."""
    if probability < SMALLEST_TAIL:
        raise ValueError("no tail is that small")


def tail_probability(confidence: Fraction) -> Fraction:
    """Return the probability that each tail beyond a half-width of this confidence may have."""
    if not 0 <= confidence < 1:
        raise ValueError("a confidence is at least 0 and below 1")
    return (1 - confidence) / 2
