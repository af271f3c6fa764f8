"""What was said, as it is: of a release that is proved to read randomised answers alone.

No noise is added and nothing is charged: `analysis.local_privacy` has the proof and says what was
lost when the answers were given. Of anything else this would be no private release.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpsql.privacy.mechanisms.mechanism import check_integers
from dpsql.privacy.mechanisms.noise.uniform_bits_in_cell import Integers
from dpsql.privacy.mechanisms.randomness import Randomness


@dataclass(frozen=True, slots=True)
class NoNoise:
    """Adds nothing to how many said so."""

    @property
    def name(self) -> str:
        """What users call it."""
        return "no noise"

    @property
    def variance(self) -> Fraction:
        """Nothing varies."""
        return Fraction(0)

    def half_width(self, confidence: Fraction) -> int:
        """Nothing is moved."""
        del confidence
        return 0

    def release_vector(self, values: Integers, randomness: Randomness) -> Integers:
        """Return `values`."""
        del randomness
        if values.dtype == object:
            check_integers(values.tolist())
        return values
