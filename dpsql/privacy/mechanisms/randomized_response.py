"""Randomised response: an answer is the true one with a known probability, or any other one.

(Warner 1965; for several answers Kairouz, Bonawitz & Ramage 2016, "Discrete Distribution Estimation
under Local Privacy".) The true answer is hidden; who answered, and how often, is not: a unit of
several answers loses as many times as much, and counting the answers is no private release.
"""

from __future__ import annotations

from fractions import Fraction

from msgspec import Struct

from dpsql.privacy.directed_rounding import exp, ln

MAX_CATEGORIES = 2**62


class RandomizedResponse(Struct, frozen=True):
    """Of `categories` answers, the true one is `truth` / `lie` times as likely as each other one.

    Raises ValueError unless 1 <= lie < truth and there are two categories at least.
    """

    truth: int
    lie: int
    categories: int

    def __post_init__(self) -> None:
        if self.categories < 2:
            raise ValueError("there are at least two answers")
        if not 1 <= self.lie < self.truth or self._all >= MAX_CATEGORIES:
            raise ValueError("the truth is told more often than any other answer, but not always")

    @classmethod
    def of_epsilon(cls, epsilon: Fraction, categories: int = 2) -> RandomizedResponse:
        """Return the mechanism of loss ε, or less by 1 in 10^9 at most for ε from 10^-6 to 20.

        Raises ValueError unless ε is positive.
        """
        # truth/lie is e^ε, rounded down to as many binary digits as 62 bits allow.
        if epsilon <= 0:
            raise ValueError("ε is positive")
        ratio = min(exp(min(epsilon, Fraction(40))).low, Fraction(2**58))
        digits = max(60 - (int(ratio) + categories).bit_length(), 0)
        return cls(int(ratio * 2**digits), 2**digits, categories)

    @property
    def name(self) -> str:
        """The mechanism's name in reports."""
        return "randomised response"

    @property
    def p(self) -> Fraction:
        """The probability of the true answer."""
        return Fraction(self.truth, self._all)

    @property
    def q(self) -> Fraction:
        """The probability of each other answer."""
        return Fraction(self.lie, self._all)

    @property
    def epsilon(self) -> Fraction:
        """The loss of one changed answer, ln(p/q), rounded up."""
        return ln(Fraction(self.truth, self.lie)).high

    def estimate(self, responses: int, total: int) -> Fraction:
        """Estimate, without bias, how many of `total` rows truly have the answer of `responses`."""
        return (responses - total * self.q) / (self.p - self.q)

    def variance(self, count: Fraction | int, total: int) -> Fraction:
        """Return the estimate's variance when `count` of `total` rows truly have the answer.

        `count` may be an estimate; it is clamped to [0, total].
        """
        truly = min(max(Fraction(count), Fraction(0)), Fraction(total))
        of_responses = truly * self.p * (1 - self.p) + (total - truly) * self.q * (1 - self.q)
        return of_responses / (self.p - self.q) ** 2

    @property
    def _all(self) -> int:
        return self.truth + (self.categories - 1) * self.lie
