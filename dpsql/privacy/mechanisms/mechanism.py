"""The interface of mechanisms that add noise: integers in, integers out, a known tail."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Protocol

import numpy as np

from dpsql.privacy.mechanisms.noise.uniform_bits_in_cell import FEW, Integers
from dpsql.privacy.mechanisms.randomness import Randomness


class Mechanism(Protocol):
    """Adds independent noise, symmetric about 0, to each integer of a vector."""

    @property
    def name(self) -> str:
        """The mechanism's name in reports."""

    @property
    def variance(self) -> Fraction | float:
        """The noise's variance, or a bound of it that from ½ on is at most 1 % above it."""

    def release(self, values: Sequence[int], randomness: Randomness) -> list[int]:
        """Return each value with fresh noise; anything but an int is a TypeError."""

    def release_vector(self, values: Integers, randomness: Randomness) -> Integers:
        """Return the array with fresh noise; its type is int64, or object for Python integers."""

    def tail(self, at_least: int) -> Fraction:
        """Return P(noise >= at_least), rounded up; for at_least >= 1."""

    def tail_point(self, probability: Fraction) -> int:
        """Return the least k >= 1 with tail(k) <= probability."""

    def half_width(self, confidence: Fraction) -> int:
        """Return the least h with P(|noise| <= h) >= confidence, for 0 <= confidence < 1."""


SMALLEST_TAIL = Fraction(1, 10**300)
"""Tails are rounded up to no less than 10^-500; no caller needs less than this."""


def add_noise(values: Sequence[int], noise: Integers) -> list[int]:
    """Return the sums of values and noise, as Python integers of any size."""
    return [value + draw for value, draw in zip(values, noise.tolist(), strict=True)]


def add_noise_vector(values: Integers, noise: Integers) -> Integers:
    """Return the sums of values and noise: of int64 where that holds them, else of object.

    Raises TypeError for an array of any other type.
    """
    if values.dtype == object:
        check_integers(values.tolist())
    elif values.dtype != np.int64:
        raise TypeError("mechanisms take integers only")
    if object in (values.dtype, noise.dtype) or not _are_small(values):
        return np.asarray(values.astype(object) + noise.astype(object), dtype=object)
    return np.asarray(values + noise)  # int64 noise is below 2^62


def _are_small(values: Integers) -> bool:
    if values.size <= FEW:
        return all(-(2**62) < value < 2**62 for value in values.tolist())
    return not values.size or bool(values.min() > -(2**62) and values.max() < 2**62)


def check_integers(values: Sequence[int]) -> None:
    """Raise TypeError for all but exact ints: NaN must never become a number, nor True a 1."""
    if any(type(value) is not int for value in values):
        raise TypeError("mechanisms take integers only")


def check_tail(probability: Fraction) -> None:
    """Raise ValueError for a probability below that of any tail that is computed."""
    if probability < SMALLEST_TAIL:
        raise ValueError("no tail is that small")


def tail_probability(confidence: Fraction) -> Fraction:
    """Return the probability of each of the two tails beyond a half-width of this confidence.

    Raises ValueError unless 0 <= confidence < 1.
    """
    if not 0 <= confidence < 1:
        raise ValueError("a confidence is at least 0 and below 1")
    return (1 - confidence) / 2
