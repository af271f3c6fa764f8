"""Draws of discrete Laplace and discrete Gaussian noise: exact, whole vectors at a time.

Both go the same way. A table gives the cell that a draw falls into and its sign (certified
inversion); uniform bits give the position inside the cell; and the position is accepted with the
probability by which its weight is below that of the cell's heaviest position, as in the rejection
samplers of Canonne, Kamath & Steinke 2020 ("The Discrete Gaussian for Differential Privacy",
Algorithms 2 and 3). Each step is exact, so a draw has exactly its distribution.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache, partial

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from dpsql.privacy.mechanisms.noise.distribution import Cells, NoiseDistribution, cut_points
from dpsql.privacy.mechanisms.noise.inverse_sampling import Inversion
from dpsql.privacy.mechanisms.noise.uniform_bits_in_cell import (
    FEW,
    HIGH_BITS,
    Integers,
    LowBits,
    few_positions,
)
from dpsql.privacy.mechanisms.randomness import Randomness, few_words
from dpsql.privacy.mechanisms.selection.bernoulli_exp import (
    bernoulli_exp,
    bernoulli_exp_exact,
    certain_thresholds,
    settle_unsure,
)

_BATCH = 2**15  # what stays in a core's cache while it is worked on


def discrete_laplace(scale: Fraction, size: int, randomness: Randomness) -> Integers:
    """Return `size` independent draws with P(x) ∝ e^(-|x|/scale).

    The array is of int64 for scales below 2^55, and of Python integers from there on; and, so that
    nothing ever overflows, also when a draw is 2^62 or more (below 2^55, a chance of e^-128).
    """
    check_parameter(scale)
    return _laplace_sampler(*scale.as_integer_ratio()).sample(size, randomness)


def discrete_gaussian(variance: Fraction, size: int, randomness: Randomness) -> Integers:
    """Return `size` independent draws with P(x) ∝ e^(-x²/(2·variance)).

    The array is of int64 or of Python integers as for discrete Laplace of scale √(2·variance).
    """
    check_parameter(variance)
    return _gaussian_sampler(*variance.as_integer_ratio()).sample(size, randomness)


def check_parameter(parameter: Fraction) -> None:
    """Refuse scales and variances that no distribution has.

    Raises TypeError for floats, of which some are no number, and ValueError unless they are
    positive.
    """
    if not isinstance(parameter, Fraction):
        raise TypeError("scales and variances of noise are fractions")
    if parameter <= 0:
        raise ValueError("scales and variances of noise are positive")


def drawn_in_batches(
    batch: Callable[[int, Randomness], Integers], shift: int, size: int, randomness: Randomness
) -> Integers:
    """Return `size` draws of `batch`, each of which has `shift` bits that a table doesn't decide.

    A batch of some number of draws may have fewer.
    """
    parts: list[Integers] = [np.empty(0, dtype=object if shift > HIGH_BITS else np.int64)]
    missing = size
    while missing > 0:
        part = batch(min(missing, _BATCH), randomness)
        parts.append(part)
        missing -= part.size
    return np.concatenate(parts) if len(parts) > 2 else parts[-1]


# By two integers: a fraction's hash takes as long as some draws.
@lru_cache(maxsize=128)
def _laplace_sampler(numerator: int, denominator: int) -> Sampler:
    return Sampler.of(NoiseDistribution.laplace(Fraction(numerator, denominator)))


@lru_cache(maxsize=128)
def _gaussian_sampler(numerator: int, denominator: int) -> Sampler:
    return Sampler.of(NoiseDistribution.gaussian(Fraction(numerator, denominator)))


class Sampler(Struct, frozen=True, eq=False):
    """A noise distribution with its tables.

    `certain` says of each outcome how many 2^16ths of its positions are accepted wherever they lie.
    `gentle` is the number of the first outcome that has an exponent above 1. `quadratic` and
    `linear` are the coefficients of `cells` as doubles.
    """

    distribution: NoiseDistribution
    cells: Cells
    inversion: Inversion
    quadratic: float
    linear: float
    gentle: int
    certain: NDArray[np.uint16]

    @classmethod
    def of(cls, distribution: NoiseDistribution) -> Sampler:
        """Build the tables of `distribution`, in about a millisecond."""
        cells = distribution.cells()
        inversion = Inversion(partial(cut_points, cells))
        if not cells.shift:  # single integers: nothing to accept
            return cls(distribution, cells, inversion, 0.0, 0.0, 0, np.empty(0, dtype=np.uint16))
        quadratic, linear = float(cells.quadratic), float(cells.linear)
        gentle = inversion.size
        if quadratic:
            # The exponents in cell c are at most quadratic·(2c + 1) + linear.
            gentle = min(gentle, 2 * int(((1 - cells.linear) / cells.quadratic - 1) / 2))
        # The greatest exponent of each outcome, and NaN for the outcomes after the table.
        numbers = np.arange(inversion.size + 1, dtype=np.int64)
        steepest = (quadratic * ((numbers & ~1) + 1.0) + linear).astype(np.float64)
        steepest[-1] = np.nan
        return cls(
            distribution, cells, inversion, quadratic, linear, gentle, certain_thresholds(steepest)
        )

    def sample(self, size: int, randomness: Randomness) -> Integers:
        """Return `size` independent draws."""
        # One by one, they are made of the same bits as by vectors.
        is_few = size <= FEW and self.cells.shift <= HIGH_BITS
        batch = self._few if is_few else self._batch
        return drawn_in_batches(batch, self.cells.shift, size, randomness)

    def _batch(self, size: int, randomness: Randomness) -> Integers:
        """Return at most `size` draws; fewer when many proposals were rejected."""
        if not self.cells.shift:
            outcomes = self.inversion.sample(size, randomness)
            singles: Integers = outcomes >> 1 ^ -(outcomes & 1)  # 0, -1, 1, -2, 2, …
            return singles
        # Up to 3 % are rejected. Proposals are independent and alike, so keeping the first `size`
        # accepted ones is what drawing one by one would do.
        outcomes = self.inversion.sample(size + size // 20 + 2, randomness)
        positions = LowBits.sample(self.cells.shift, outcomes.size, randomness)
        accepted = self._accepted(outcomes, positions, randomness).nonzero()[0][:size]
        return positions.take(accepted).attach(outcomes.take(accepted))

    def _few(self, size: int, randomness: Randomness) -> Integers:
        """Return what `_batch` does of the same bits, draw by draw; positions are of one word."""
        shift = self.cells.shift
        if not shift:
            outcomes = self.inversion.sample_few(size, randomness)
            return np.array([each >> 1 ^ -(each & 1) for each in outcomes], dtype=np.int64)
        outcomes = self.inversion.sample_few(size + size // 20 + 2, randomness)
        positions = few_positions(shift, len(outcomes), randomness)
        accepted = self._accepted_few(outcomes, positions, randomness)
        drawn = [
            ((outcome >> 1 << shift) | position) ^ -(outcome & 1)
            for outcome, position, is_accepted in zip(outcomes, positions, accepted, strict=True)
            if is_accepted
        ]
        del drawn[size:]
        # As `LowBits.attach` has it: one draw beyond makes all of them Python's integers.
        is_small = all(-(2**62) <= draw < 2**62 for draw in drawn)
        return np.array(drawn, dtype=np.int64 if is_small else object)

    def _accepted_few(
        self, outcomes: Sequence[int], positions: Sequence[int], randomness: Randomness
    ) -> Sequence[bool]:
        short = few_words(randomness, len(outcomes), 16)
        certain = self.certain.item
        last = self.certain.size - 1
        accepted = [
            prefix < certain(min(outcome, last))
            for prefix, outcome in zip(short, outcomes, strict=True)
        ]
        if all(accepted):
            return accepted
        numbers = np.array(outcomes, dtype=np.int64)
        low_bits = LowBits(np.array(positions, dtype=np.int64), self.cells.shift, (), ())
        settled: list[bool] = settle_unsure(
            np.array(accepted, dtype=np.bool_),
            np.array(short, dtype=np.uint16),
            lambda indices: self._rounded_exponents(numbers.take(indices), low_bits.take(indices)),
            lambda index, prefix: bernoulli_exp_exact(
                prefix, 32, self._exact_exponent(outcomes[index], positions[index]), randomness
            ),
            randomness,
        ).tolist()
        return settled

    def _accepted(
        self, outcomes: NDArray[np.int64], low_bits: LowBits, randomness: Randomness
    ) -> NDArray[np.bool_]:
        """Accept each position with its weight over that of the heaviest one in its cell."""
        return bernoulli_exp(
            # Outcomes after the table share its last entry, which is sure of nothing.
            self.certain.take(outcomes, mode="clip"),
            lambda indices: self._rounded_exponents(outcomes.take(indices), low_bits.take(indices)),
            lambda index: self._exact_exponent(int(outcomes[index]), low_bits.full(index)),
            randomness,
        )

    def _exact_exponent(self, outcome: int, low_bits: int) -> Fraction:
        cell, minus = divmod(outcome, 2)
        start = cell << self.cells.shift
        return self.distribution.energy(start + low_bits + minus) - self.distribution.energy(start)

    def _rounded_exponents(
        self, outcomes: NDArray[np.int64], low_bits: LowBits
    ) -> NDArray[np.float64]:
        """Compute the exact exponents to within 2^-46; NaN for those that may be above 1."""
        # With f = (position + minus)/2^shift, which is at most 1, and the cell c the exponent is
        # f·(quadratic·(2c + f) + linear). All terms are positive, so six operations and two rounded
        # coefficients make a relative error below 10·2^-53. Positions of over 50 bits lose up to
        # 2^-49 of f; where the exponent is not NaN it is at most 1, and its slope in f at most 2.
        high = low_bits.high
        if not low_bits.lows:
            high = high + (outcomes & 1)
        f = high * 2.0**-low_bits.high_bits
        exponents: NDArray[np.float64] = f * (self.quadratic * ((outcomes & ~1) + f) + self.linear)
        exponents[outcomes >= self.gentle] = np.nan
        return exponents
