"""Draws of the normal law, rounded down to a grid that is finer than integers: exact, by vectors.

The way is that of `sampler`: a table gives the interval that a draw falls into and its sign,
uniform bits give the position inside it, and the position is accepted with the probability by which
the density there is below that where the interval begins. Here a position is a real number, of
which only the bits down to the grid are part of the answer; further ones are drawn as far as the
decision needs them, once in some 2^28 draws. Each step is exact, so a draw has exactly its law.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache, partial

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from dpsql.privacy.directed_rounding import scaled_exp
from dpsql.privacy.mechanisms.noise.distribution import NoiseDistribution, cut_points
from dpsql.privacy.mechanisms.noise.inverse_sampling import Inversion
from dpsql.privacy.mechanisms.noise.sampler import check_parameter, drawn_in_batches
from dpsql.privacy.mechanisms.noise.uniform_bits_in_cell import HIGH_BITS, Integers, LowBits
from dpsql.privacy.mechanisms.randomness import Randomness, doubled
from dpsql.privacy.mechanisms.selection.bernoulli_exp import certain_thresholds, compare_lazily


def rounded_normal(variance: Fraction, size: int, randomness: Randomness) -> Integers:
    """Return `size` independent draws of N(0, variance), each rounded to the nearest integer.

    The array is of int64 for variances below 2^110, and of Python integers from there on; and, so
    that nothing ever overflows, also when a draw is 2^62 or more.
    """
    check_parameter(variance)
    return _sampler(variance).sample(size, randomness)


@lru_cache(maxsize=128)
def _sampler(variance: Fraction) -> NormalSampler:
    return NormalSampler.of(variance)


class NormalSampler(Struct, frozen=True, eq=False):
    """The normal law on a grid of `grid_bits` bits behind the point, with its tables.

    `shift` is the number of bits of a position, `quadratic` the exponent of a whole interval's
    width. `certain` and `gentle` are those of `sampler.Sampler`.
    """

    distribution: NoiseDistribution
    grid_bits: int
    shift: int
    inversion: Inversion
    quadratic: float
    gentle: int
    certain: NDArray[np.uint16]

    @classmethod
    def of(cls, variance: Fraction) -> NormalSampler:
        """Build the tables, in about a millisecond."""
        # A position has at least HIGH_BITS bits, by which floats know the exponent well enough.
        grid_bits = 1
        while True:
            distribution = NoiseDistribution.gaussian(variance * 4**grid_bits)
            cells = distribution.cells()
            if cells.shift >= HIGH_BITS:
                break
            grid_bits += HIGH_BITS - cells.shift
        inversion = Inversion(partial(cut_points, cells))
        quadratic = float(cells.quadratic)
        # The exponents in the interval number c are at most quadratic·(2c + 1).
        gentle = min(inversion.size, 2 * int((1 / cells.quadratic - 1) / 2))
        numbers = np.arange(inversion.size + 1, dtype=np.int64)
        steepest = np.asarray(quadratic * ((numbers & ~1) + 1.0), dtype=np.float64)
        steepest[-1] = np.nan  # outcomes after the table
        return cls(
            distribution,
            grid_bits,
            cells.shift,
            inversion,
            quadratic,
            gentle,
            certain_thresholds(steepest),
        )

    def sample(self, size: int, randomness: Randomness) -> Integers:
        """Return `size` independent draws, rounded to integers."""
        return drawn_in_batches(self._batch, self.shift, size, randomness)

    def _batch(self, size: int, randomness: Randomness) -> Integers:
        """Return at most `size` draws; fewer when many proposals were rejected."""
        outcomes = self.inversion.sample(size + size // 20 + 2, randomness)
        positions = LowBits.sample(self.shift, outcomes.size, randomness)
        accepted = self._accepted(outcomes, positions, randomness).nonzero()[0][:size]
        # Of sign minus, -x is below the grid point -1 - position: that is rounded down, too.
        floors = positions.take(accepted).attach(outcomes.take(accepted))
        # ⌊x + ½⌋ of an x whose whole bits, and at least one behind the point, are in `floors`.
        rounded: Integers = ((floors >> (self.grid_bits - 1)) + 1) >> 1
        return rounded

    def _accepted(
        self, outcomes: NDArray[np.int64], positions: LowBits, randomness: Randomness
    ) -> NDArray[np.bool_]:
        """Accept each position with its density over that where its interval begins."""
        return compare_lazily(
            self.certain.take(outcomes, mode="clip"),
            lambda indices: self._rounded_exponents(
                outcomes.take(indices), positions.take(indices)
            ),
            lambda index, prefix: self._decided(
                int(outcomes[index]) >> 1, positions.full(index), prefix, randomness
            ),
            randomness,
        )

    def _decided(self, interval: int, position: int, prefix: int, randomness: Randomness) -> bool:
        """Whether U < e^-g, for a U that begins with the 32 bits of `prefix`.

        g is the exponent at the real number that begins with the bits of `position`.
        """
        start = interval << self.shift
        at, at_bits, bits = position, 0, 32
        while True:
            prefix, at = doubled(prefix, bits, randomness), doubled(at, bits, randomness)
            at_bits += bits
            bits *= 2
            lowest, highest = (
                self.distribution.quadratic
                * (Fraction(start + Fraction(at + end, 1 << at_bits)) ** 2 - start**2)
                for end in (0, 1)
            )
            # The bounds are at most 1 away from 2^bits·e^-g at either end.
            if prefix + 2 <= scaled_exp(highest, bits):
                return True
            if prefix >= scaled_exp(lowest, bits) + 1:
                return False

    def _rounded_exponents(
        self, outcomes: NDArray[np.int64], positions: LowBits
    ) -> NDArray[np.float64]:
        """Compute the exponents to within 2^-46; NaN for those that may be above 1."""
        # With the position f as a part of the interval, the exponent is f·quadratic·(2c + f). All
        # terms are positive: five operations and a rounded coefficient err by less than 10·2^-53 of
        # it. Of f, the bits behind the first 50 are missing: 2^-50 at most; where the exponent is
        # not NaN it is at most 1, and its slope in f at most 2.
        f = positions.high * 2.0**-positions.high_bits
        exponents: NDArray[np.float64] = f * (self.quadratic * ((outcomes & ~1) + f))
        exponents[outcomes >= self.gentle] = np.nan
        return exponents
