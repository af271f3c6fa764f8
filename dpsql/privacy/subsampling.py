"""Privacy by sampling: what all units lose where answers are of a secret sample of them.

S(D) keeps each unit of D, with all its rows, with probability q and for itself, and no answer reads
another row. All answers together are one mechanism M of S(D), however each question follows from
the answers before. Let D' be D without one unit, and S' = S(D'). With probability 1 - q, S(D) is
S', else it is S' and that unit's rows. So M(S(D)) = (1 - q)·μ + q·ν with μ = M(S'), which is also
M(S(D')), and ν = M(S' and the unit). If M is (ε, δ)-private, then on every event, with E = e^ε and
a = 1 + q(E - 1):

    (1-q)μ + qν  ≤  (1 - q)μ + q(Eμ + δ)  =  aμ + qδ
    a((1-q)μ + qν)  ≥  a(1 - q + q/E)μ - aqδ/E  ≥  μ - qδ

since ν ≥ (μ - δ)/E, a(1 - q + q/E) = 1 + q(1 - q)(E - 1)²/E ≥ 1, and a ≤ E. Hence answers are
(ln a, qδ)-private for D: theorem 8 of Balle, Barthe & Gaboardi 2018, which is tight (theorem 10).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from msgspec import Struct

from dpsql.privacy.directed_rounding import exp, ln, round_down, round_up

BITS: Final = 64
"""A unit is drawn if so many bits of its keyed hash, as a number, are below a threshold."""

_DIGITS: Final = 12
"""A ledger compares caps exactly, over all versions of this program."""


class PoissonSampling(Struct, frozen=True):
    """Each unit is drawn with a probability of at most `rate`, for itself; 0 < rate < 1."""

    rate: Fraction

    def __post_init__(self) -> None:
        if not 0 < self.threshold < 2**BITS or self.rate >= 1:
            raise ValueError("a unit is drawn with a probability between 0 and 1")

    @property
    def threshold(self) -> int:
        """A unit is drawn if a number below 2^BITS that is random to everybody is below it."""
        return int(self.rate * 2**BITS)

    @property
    def drawn(self) -> Fraction:
        """The probability with which a unit is drawn: `rate`, but for less than 2^-BITS."""
        return Fraction(self.threshold, 2**BITS)

    def epsilon_of_sample(self, epsilon: Fraction) -> Fraction:
        """The ε that answers may lose of the sample if all units may lose `epsilon`.

        ln(1 + (e^ε - 1)/q), rounded down: never less than `epsilon`.
        """
        grown = (exp(epsilon).low - 1) / self.rate
        return max(epsilon, round_down(ln(1 + max(grown, Fraction(0))).low, _DIGITS))

    def delta_of_sample(self, delta: Fraction) -> Fraction:
        """The δ that answers may lose of the sample if all units may lose `delta`: δ/q."""
        return round_down(delta / self.rate, _DIGITS)

    def epsilon_of_all(self, epsilon: Fraction) -> Fraction:
        """The ε that all units lose where `epsilon` was lost of the sample, rounded up."""
        if not epsilon:
            return Fraction(0)
        shrunk = ln(1 + self.rate * (exp(epsilon).high - 1)).high
        return min(epsilon, round_up(shrunk, _DIGITS))

    def delta_of_all(self, delta: Fraction) -> Fraction:
        """The δ that all units lose where `delta` was lost of the sample."""
        return delta * self.rate
