"""Randomised response: each answer tells the truth with a known probability, or any other answer.

(Warner 1965; for several answers Kairouz, Bonawitz & Ramage 2016, "Discrete Distribution Estimation
under Local Privacy".) What an answer was is hidden; who answered, and how often, is not: a unit of
several answers loses as many times as much, and counting the answers is no private release.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpsql.privacy.accounting.loss import Accounting, PrivacyLoss
from dpsql.privacy.directed_rounding import exp, ln
from dpsql.privacy.mechanisms.randomness import Randomness, words
from dpsql.privacy.mechanisms.selection.permute_and_flip import rho_of_pure

MAX_CATEGORIES = 2**62


@dataclass(frozen=True, slots=True)
class RandomizedResponse:
    """Of `categories` answers, the true one is given `truth` times for each `lie` of any other."""

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
        """Return the one whose loss is ε, or less by 1 in 10^9 at most for ε from 10^-6 to 20."""
        # truth/lie is e^ε, rounded down to as many binary digits as 62 bits allow.
        if epsilon <= 0:
            raise ValueError("ε is positive")
        ratio = min(exp(min(epsilon, Fraction(40))).low, Fraction(2**58))
        digits = max(60 - (int(ratio) + categories).bit_length(), 0)
        return cls(int(ratio * 2**digits), 2**digits, categories)

    @classmethod
    def of_truth(cls, probability: Fraction, categories: int = 2) -> RandomizedResponse:
        """Return the one that tells the truth with this probability."""
        lie = (1 - probability) / (categories - 1)
        ratio = probability / lie
        return cls(ratio.numerator, ratio.denominator, categories)

    @property
    def name(self) -> str:
        """What users call it."""
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

    def loss(self, accounting: Accounting, answers: int = 1) -> PrivacyLoss:
        """Return what changing so many answers of a unit costs."""
        each = rho_of_pure(self.epsilon) if accounting is Accounting.ZCDP else self.epsilon
        return PrivacyLoss(accounting, answers * each)

    def respond(self, answers: NDArray[np.int64], randomness: Randomness) -> NDArray[np.int64]:
        """Return what is said for each answer, from 0 to categories - 1; exactly with p and q."""
        if answers.dtype != np.int64 or ((answers < 0) | (answers >= self.categories)).any():
            raise TypeError("answers are int64, from 0 to categories - 1")
        # The others are numbered from the answer on: 1 is the next one, and so on around.
        drawn = _below(self._all, answers.size, randomness)
        others = np.where(drawn < self.truth, 0, (drawn - self.truth) // self.lie + 1)
        said: NDArray[np.int64] = (answers + others.reshape(answers.shape)) % self.categories
        return said

    def estimate(self, count: int, total: int) -> Fraction:
        """Return how many of `total` answers are truly this one, unbiased, when `count` say so."""
        return (count - total * self.q) / (self.p - self.q)

    def estimates(self, counts: Sequence[int]) -> list[Fraction]:
        """Return the same for every answer; they add up to all answers."""
        total = sum(counts)
        return [self.estimate(count, total) for count in counts]

    def variance(self, count: Fraction | int, total: int) -> Fraction:
        """Return the variance of the estimate when `count` of `total` truly have this answer.

        An estimated count may be given; it is brought into [0, total].
        """
        truly = min(max(Fraction(count), Fraction(0)), Fraction(total))
        of_said = truly * self.p * (1 - self.p) + (total - truly) * self.q * (1 - self.q)
        return of_said / (self.p - self.q) ** 2

    @property
    def _all(self) -> int:
        return self.truth + (self.categories - 1) * self.lie


def _below(limit: int, count: int, randomness: Randomness) -> NDArray[np.int64]:
    """Return uniform integers from 0 to limit - 1: words below a multiple of it, modulo it."""
    multiple = 2**64 // limit * limit
    parts = [np.empty(0, dtype=np.uint64)]
    missing = count
    while missing:
        drawn = words(randomness, missing, 64)
        parts.append(drawn[drawn <= np.uint64(multiple - 1)])
        missing -= parts[-1].size
    return (np.concatenate(parts) % np.uint64(limit)).astype(np.int64)
