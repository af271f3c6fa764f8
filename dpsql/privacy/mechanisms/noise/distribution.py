"""Both noise distributions as one family: P(x) ∝ e^-(quadratic·x² + linear·|x|) on the integers.

To be drawn, the integers are cut into cells of 2^shift neighbours in which weights change little.
The cell c >= 0 with sign plus holds the x from c·2^shift to (c + 1)·2^shift - 1, with sign minus -1
- x for each of these x. The ends of each (cell, sign) on the unit interval are computed here: to 32
bits, which nearly all draws need no more than, in doubles where cells are wide; to any number of
bits in integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from dpsql.privacy.directed_rounding import scaled_exp

_ENERGY: Final = 33

_CELLS: Final = 1024
"""Cells after which weights have fallen by more than e^33."""

_DOUBLE_BITS: Final = 32
"""Cut points of so many bits are computed in doubles."""


class NoiseDistribution(Struct, frozen=True):
    """P(x) ∝ e^-energy(x); discrete Laplace has no quadratic part, discrete Gaussian no linear."""

    quadratic: Fraction
    linear: Fraction

    @classmethod
    def laplace(cls, scale: Fraction) -> NoiseDistribution:
        """The distribution P(x) ∝ e^(-|x|/scale)."""
        return cls(quadratic=Fraction(0), linear=1 / scale)

    @classmethod
    def gaussian(cls, variance: Fraction) -> NoiseDistribution:
        """The distribution P(x) ∝ e^(-x²/(2·variance))."""
        return cls(quadratic=1 / (2 * variance), linear=Fraction(0))

    def energy(self, x: int) -> Fraction:
        """Return minus the logarithm of the weight of x."""
        return self.quadratic * x * x + self.linear * abs(x)

    def cells(self) -> Cells:
        """Return the widest cells of which 512 have energy at most 33, or else single integers."""
        # In integers: a product of fractions takes ten times as long.
        squares, of_squares = self.quadratic.as_integer_ratio()
        firsts, of_firsts = self.linear.as_integer_ratio()
        squares, firsts = squares * of_firsts, firsts * of_squares
        bound = _ENERGY * of_squares * of_firsts
        shift, x = 0, _CELLS
        while (squares * x + firsts) * x <= bound:
            shift, x = shift + 1, 2 * x
        return Cells(
            shift=shift,
            quadratic=self.quadratic * (1 << 2 * shift),
            linear=self.linear * (1 << shift),
        )


class Cells(Struct, frozen=True):
    """Cells of 2^shift integers; cell c, of either sign, weighs e^-(quadratic·c² + linear·c).

    That is the weight of the integer c·2^shift, and no other integer of the cell weighs more. By
    the choice of shift, cell 1024 has energy above 33; so, energy being convex and 0 at 0, weights
    fall by more than e^33 every 1024 cells, wherever one starts.
    """

    shift: int
    quadratic: Fraction
    linear: Fraction


@lru_cache(maxsize=64)
def cut_points(cells: Cells, bits: int) -> Sequence[int] | NDArray[np.int64]:
    """Return where the outcomes 0+, 0-, 1+, 1-, 2+, … of (cell, sign) end on the unit interval.

    Entry i is at most 1 away from 2^bits times the probability of outcomes 0 … i. The last entry
    is 2^bits and stands for all outcomes from there on: their ends are all within 1 of it.
    Without a shift the outcomes are the integers 0, -1, 1, -2, 2, … with their own weights.
    """
    if cells.shift and bits == _DOUBLE_BITS:
        return _of_doubles(cells)
    return _of_integers(cells, bits)


def _of_doubles(cells: Cells) -> NDArray[np.int64]:
    """The cut points of 32 bits, of cells of more than one integer."""
    # Let u be 2^-53, E(c) the energy of cell c, and all errors be relative. E(512) <= 33, for the
    # shift is above 0: quadratic + linear <= 33/512, so `step` and the first ratio are 1/e at
    # least, and as integers of 64 bits, made doubles, off by 2u at most. A product of doubles adds
    # u, for nothing underflows: weights are e^-E(1024) >= e^-4·E(512) >= e^-132. So the ratio of
    # cell c, of c products, is off by (3c + 2)u, and its weight, the product of c ratios, by
    # 1.6·(c² + c)u. How much is that of all weights together?
    #     E(c) >= 33·(c/1024)², for E(1024) > 33: weights times c² sum to at most
    #         1024³·√π/(4·33^1.5) + 1024²/(33·e) < 2.6·10^6, and times c to less than 0.02 of that.
    #     E(c) <= 33·c/512 up to 512, E being convex: weights sum to at least 15.
    # So it is 1.6·1.02·2.6·10^6/15·u < 2^-34.7 of the total at most. Each sum, of at most 2047
    # additions, is off by that and by 2^-42 of the total; a quotient, which is at most 1, by twice
    # as much, below 2^-33.6, a third of 2^-32. What isn't listed weighs less than 2^-46.9 each, of
    # one sign less than 2^11 times that together, and less than 2^-39 of the total. With ½ for
    # rounding, and 2^-20 for the division, all is below 0.9 in units of 2^-32.
    step = scaled_exp(2 * cells.quadratic, 64) * 2.0**-64
    ratios = np.full(_CELLS - 1, step)
    ratios[0] = scaled_exp(cells.quadratic + cells.linear, 64) * 2.0**-64
    weights = np.ones(_CELLS)
    np.multiply.accumulate(np.multiply.accumulate(ratios), out=weights[1:])
    listed = weights[: np.count_nonzero(weights >= 2.0**-47)]
    sums = np.add.accumulate(np.repeat(listed, 2))
    cuts: NDArray[np.int64] = np.rint(sums / sums[-1] * 2.0**_DOUBLE_BITS).astype(np.int64)
    return cuts


def _of_integers(cells: Cells, bits: int) -> tuple[int, ...]:
    # Fixed point with `guard` more bits than asked for; `one` is 1. Let h count weights and n be
    # their number. The first ratio and its step are off by at most 1 (scaled_exp), so each
    # ratio by 2h + 1, each weight by 2h², each sum and the total of the listed weights by 4n³.
    # Weights are listed while they weigh 2^-(bits + 15) or more, and weights fall by e^33 every
    # 1024 cells: n <= 1024·⌈(bits + 15)·ln 2/33⌉ <= 32·bits < 2^(5 + bit_length) for 32 bits,
    # 64, 128, …, whence 4n³ < 2^(17 + 3·bit_length) < 2^(guard - 31).
    # The weights not listed: the first is below 2^(guard - 15), all of one sign together below
    # 1024/(1 - e^-33) < 2^11 times that, so all below 2^(guard - 3).
    # The total is at least `one`, so sum/total is off by less than 2^(guard - 2)/one, that is ¼
    # in units of 2^-bits, and by ½ more when it is rounded: together below 1.
    guard = 48 + 4 * bits.bit_length()
    shift = bits + guard
    one = 1 << shift
    weight, ratio = one, scaled_exp(cells.quadratic + cells.linear, shift)
    step = scaled_exp(2 * cells.quadratic, shift)
    total = weight
    sums = [total]
    if cells.shift:
        sums.append(total := total + weight)
    weight = weight * ratio >> shift
    while weight >> (guard - 15):
        sums.append(total := total + weight)
        sums.append(total := total + weight)
        if step != one:  # Laplace: the ratio stays
            ratio = ratio * step >> shift
        weight = weight * ratio >> shift
    half = total >> 1
    return tuple(((end << bits) + half) // total for end in sums)
