"""Gaussian noise with a shared part, for integers that a unit moves in known directions.

(Joseph & Yu 2024, "Some Constructions of Private, Efficient, and Optimal K-Norm and Elliptic
Gaussian Noise"; Lebeda 2025, "Better Gaussian Mechanism using Correlated Noise".) Let a unit that
is added move integer x_i by v_i from l_i to h_i, 0 among these, and let N be the number of units.
With m_i = l_i + h_i, it moves the integer 2·x_i - m_i·N by 2·v_i - m_i, which is h_i - l_i at most,
and N by 1: for counts that is half of what it moves 2·x_i by. Discrete Gaussian noise G_i of
variance s_i² on each 2·x_i - m_i·N, and H of variance t² on N, lose
    ρ = Σ (h_i - l_i)²/(2·s_i²) + 1/(2·t²)
of zCDP, exactly (Canonne, Kamath & Steinke 2020, Theorem 14). Of what is released so follows
    ((2·x_i - m_i·N + G_i) + m_i·(N + H))/2 = x_i + (G_i + m_i·H)/2,
so that N is never counted; half of an odd number is rounded up or down by a fair bit. So the noise
(G_i + m_i·H)/2 on x_i, one H for all, has this loss by postprocessing.

k counts of one row each, h_i = m_i = 1, have (√k + 1)²/(8ρ) as the variance of each, where
independent noise has k/(2ρ): 15 % less deviation for two, 30 % for six, 36 % for twelve, and up to
50 %. The noise of two of them is correlated by 1/(√k + 1), and that of a sum of all is larger.

With rounded Gaussian noise for G and H, of the same variances, the same is 2ρ of μ² in Gaussian DP.

Where u units differ, some of them added and some removed, all moves together are u times those of
one at most (triangle inequality), and lose u²·ρ.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from statistics import NormalDist

import numpy as np
from msgspec import Struct

from dpsql.privacy.directed_rounding import exp_above
from dpsql.privacy.mechanisms.mechanism import add_noise_vector, check_tail
from dpsql.privacy.mechanisms.noise.normal_sampler import rounded_normal
from dpsql.privacy.mechanisms.noise.sampler import check_parameter, discrete_gaussian
from dpsql.privacy.mechanisms.noise.uniform_bits_in_cell import Integers
from dpsql.privacy.mechanisms.randomness import Randomness, words

MIN_VARIANCE = 1
"""Of less, the noise of a sum is no longer nearly that of a normal law."""

LARGEST = 2**40
"""The largest move of an integer, so that doubled noise is far below 2^62."""


class CorrelatedGaussian(Struct, frozen=True):
    """Noise of columns of integers: `variances` are s_i², `shared` is t², and `centers` m_i.

    Of each column `cells` integers, one for each of so many groups, share one H; so do those of all
    columns in a group. G and H are discrete Gaussians or, if `is_rounded`, rounded ones.
    """

    variances: tuple[Fraction, ...]
    shared: Fraction
    centers: tuple[int, ...]
    cells: int = 1
    is_rounded: bool = False

    def __post_init__(self) -> None:
        for variance in (*self.variances, self.shared):
            check_parameter(variance)
        if len(self.variances) != len(self.centers) or not self.centers or self.cells < 1:
            raise ValueError("there is a variance for each center, and a cell at least")

    def rho(self, widths: Sequence[int]) -> Fraction:
        """Return the zCDP loss of a unit that moves integers within intervals of these `widths`.

        If `is_rounded`, twice that is its μ².
        """
        own = sum(
            (Fraction(width**2) / s for width, s in zip(widths, self.variances, strict=True)),
            Fraction(0),
        )
        return (self.cells * own + 1 / self.shared) / 2

    def parts(self) -> list[CorrelatedNoise]:
        """The noise of each column."""
        return [CorrelatedNoise(self, index) for index in range(len(self.centers))]

    def release(self, columns: Sequence[Integers], randomness: Randomness) -> list[Integers]:
        """Return the columns with fresh noise; of each `cells` integers that follow each other.

        Raises ValueError unless there are as many columns as centers, all as long, of whole groups
        of `cells`.
        """
        if len(columns) != len(self.centers) or len({column.size for column in columns}) != 1:
            raise ValueError("there is a column for each center")
        size = columns[0].size
        answers, rest = divmod(size, self.cells)
        if rest:
            raise ValueError("the integers of all groups are drawn together")
        draws = rounded_normal if self.is_rounded else discrete_gaussian
        common = np.repeat(draws(self.shared, answers, randomness), self.cells)
        noisy = []
        for column, center, variance in zip(columns, self.centers, self.variances, strict=True):
            doubled = draws(variance, size, randomness) + center * common
            bits = (words(randomness, size, 16) & 1).astype(np.int64)
            halves = (doubled + (doubled & 1) * (2 * bits - 1)) >> 1
            noisy.append(add_noise_vector(column, halves))
        return noisy


class CorrelatedNoise(Struct, frozen=True):
    """The noise of the integers of one column, at `index`: a part of `law`, not drawn by itself."""

    law: CorrelatedGaussian
    index: int

    @property
    def name(self) -> str:
        """The mechanism's name in reports."""
        return "correlated gaussian"

    @property
    def variance(self) -> Fraction:
        """The noise's variance, with that of the fair bit."""
        own, common = self._doubled
        return (own + common) / 4 + Fraction(1, 8)

    @property
    def shared_part(self) -> Fraction:
        """The part of the variance that all integers of the column have in common."""
        own, common = self._doubled
        return common / (own + common)

    def tail(self, at_least: int) -> Fraction:
        """Return a bound on P(noise >= at_least); for at_least >= 1.

        Discrete Gaussians are sub-Gaussian with their variance (Canonne, Kamath & Steinke 2020,
        Corollary 17): P(G + m·H >= 2k - 1) <= e^-((2k - 1)²/(2·(s² + m²·t²))). Normal laws are, and
        rounding G and H adds at most (1 + |m|)/2 to the sum.
        """
        if at_least < 1:
            raise ValueError("the tail begins at 1")
        reach = max(2 * at_least - 1 - self._rounding, Fraction(0))
        return exp_above(-(reach**2) / (2 * sum(self._parameters)))

    def tail_point(self, probability: Fraction) -> int:
        """Return a k >= 1 with tail(k) <= probability."""
        check_tail(probability)
        # (2k - 1 - rounding)² = 2·(s² + m²·t²)·ln(1/probability), rounded up.
        square = 2 * float(sum(self._parameters)) * -math.log(float(probability))
        reach = math.sqrt(square) * (1 + 1e-9) + float(self._rounding)
        return max(math.ceil((reach + 1) / 2), 1)

    def half_width(self, confidence: Fraction) -> int:
        """Return the least h with P(|noise| <= h) >= confidence, as the normal law has it."""
        if not 0 <= confidence < 1:
            raise ValueError("a confidence is at least 0 and below 1")
        deviations = NormalDist().inv_cdf(float((1 + confidence) / 2))
        return math.ceil(deviations * math.sqrt(self.variance))

    @property
    def _parameters(self) -> tuple[Fraction, Fraction]:
        """The parameters of G and of m·H."""
        law = self.law
        return law.variances[self.index], law.centers[self.index] ** 2 * law.shared

    @property
    def _rounding(self) -> Fraction:
        """How much the rounding of G and H may add to G + m·H."""
        if not self.law.is_rounded:
            return Fraction(0)
        return Fraction(1 + abs(self.law.centers[self.index]), 2)

    @property
    def _doubled(self) -> tuple[Fraction, Fraction]:
        """The variances of G and of m·H."""
        own, common = self._parameters
        if not self.law.is_rounded:
            return own, common
        return own + Fraction(1, 12), common + Fraction(self.law.centers[self.index] ** 2, 12)
