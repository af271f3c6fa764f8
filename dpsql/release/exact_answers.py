"""Exact counts of randomised answers, for a release that is proved to read these alone.

No noise is added and nothing is charged: `analysis.local_privacy` has the proof, and the loss was
incurred when the answers were randomised. For any other release this would not be private.
"""

from __future__ import annotations

from fractions import Fraction

from msgspec import Struct

from dpsql.privacy.mechanisms.mechanism import check_integers
from dpsql.privacy.mechanisms.noise.uniform_bits_in_cell import Integers
from dpsql.privacy.mechanisms.randomness import Randomness


class NoNoise(Struct, frozen=True):
    """The mechanism that adds no noise to counts and sums of randomised answers."""

    @property
    def name(self) -> str:
        """The mechanism's name in reports."""
        return "no noise"

    @property
    def variance(self) -> Fraction:
        """The variance of no noise, 0."""
        return Fraction(0)

    def half_width(self, confidence: Fraction) -> int:
        """The half-width of no noise, 0."""
        del confidence
        return 0

    def release_vector(self, values: Integers, randomness: Randomness) -> Integers:
        """Return `values` unchanged."""
        del randomness
        if values.dtype == object:
            check_integers(values.tolist())
        return values
