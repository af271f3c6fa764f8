"""Discrete Laplace noise: P(x) = (1 - p)/(1 + p)·p^|x| with p = e^(-1/scale).

(Ghosh, Roughgarden & Sundararajan 2009, "Universally Utility-Maximizing Privacy Mechanisms".)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from msgspec import Struct

from dpsql.privacy.directed_rounding import exp, exp_above, exp_below, round_up
from dpsql.privacy.mechanisms.mechanism import (
    add_noise,
    add_noise_vector,
    check_integers,
    check_tail,
    tail_probability,
)
from dpsql.privacy.mechanisms.noise.integer_search import first_true
from dpsql.privacy.mechanisms.noise.sampler import check_parameter, discrete_laplace
from dpsql.privacy.mechanisms.noise.uniform_bits_in_cell import Integers
from dpsql.privacy.mechanisms.randomness import Randomness


class DiscreteLaplace(Struct, frozen=True):
    """Adds discrete Laplace noise of this scale to each coordinate."""

    scale: Fraction

    def __post_init__(self) -> None:
        check_parameter(self.scale)

    @property
    def name(self) -> str:
        """The mechanism's name in reports."""
        return "laplace"

    @property
    def variance(self) -> Fraction | float:
        """2p/(1 - p)²; above a scale of 2^20 its limit 2·scale², less than 10^-12 above it."""
        if self.scale > 2**20:
            return 2 * self.scale**2
        # Below 10^-250 the variance is as good as 0, and the square would overflow.
        half = min(1 / (2 * self.scale), Fraction(300))
        return 1 / (2 * math.sinh(half) ** 2)

    def epsilon(self, l1: int) -> Fraction:
        """Return the ε of a release whose coordinates move by `l1` in all: l1/scale, exactly."""
        return l1 / self.scale

    def rho(self, l1: int, linf: int | None = None) -> Fraction:
        """Return the zCDP loss, rounded up, of a move by `l1` in all, `linf` per coordinate.

        With linf unknown, one coordinate may make the whole move. Raises ValueError for negative
        moves, and for an `l1` that `linf` = 0 rules out.
        """
        # Coordinates have independent noise, so the losses of moves d1, d2, … add up (Bun & Steinke
        # 2016, Lemma 1.7). _rho_of_one is convex in the move and 0 at 0: the sum is largest when
        # as many moves as possible are as large as possible.
        if l1 < 0 or (linf is not None and linf < 0):
            raise ValueError("a sensitivity is at least 0")
        largest = l1 if linf is None else min(l1, linf)
        if l1 == 0:
            return Fraction(0)
        if largest == 0:
            raise ValueError("coordinates that don't move don't move in all either")
        full, rest = divmod(l1, largest)
        return full * _rho_of_one(self.scale, largest) + _rho_of_one(self.scale, rest)

    def release(self, values: Sequence[int], randomness: Randomness) -> list[int]:
        """Return each value with fresh noise; anything but an int is a TypeError."""
        check_integers(values)
        return add_noise(values, discrete_laplace(self.scale, len(values), randomness))

    def release_vector(self, values: Integers, randomness: Randomness) -> Integers:
        """Return the array with fresh noise; its type is int64, or object for Python integers."""
        return add_noise_vector(values, discrete_laplace(self.scale, values.size, randomness))

    def tail(self, at_least: int) -> Fraction:
        """Return P(noise >= k) = p^k/(1 + p), rounded up by less than 1 in 10^28; for k >= 1."""
        if at_least < 1:
            raise ValueError("the tail begins at 1")
        power = exp_above(-at_least / self.scale)
        return round_up(power / (1 + exp_below(-1 / self.scale)))

    def tail_point(self, probability: Fraction) -> int:
        """Return the least k >= 1 with tail(k) <= probability."""
        check_tail(probability)
        return _tail_point(self, probability)

    def half_width(self, confidence: Fraction) -> int:
        """Return the least h with P(|noise| <= h) >= confidence."""
        return self.tail_point(tail_probability(confidence)) - 1


@lru_cache(maxsize=1024)
def _tail_point(noise: DiscreteLaplace, probability: Fraction) -> int:
    # p^k = probability·(1 + p) at k = scale·ln(1/(probability·(1 + p))); floats come near it.
    p = math.exp(max(-1 / noise.scale, Fraction(-700)))
    guess = Fraction(-math.log(float(probability) * (1 + p))) * noise.scale
    return first_true(lambda k: noise.tail(k) <= probability, math.ceil(guess))


# The zCDP loss of one coordinate that moves by d is its Kullback-Leibler divergence; that is, of
# the Rényi divergences D(a), a > 1, the ratio D(a)/a is largest as a falls to 1:
#     Let h = 1/(2·scale). The privacy loss (|x - d| - |x|)/scale takes the values ±d/scale with
#     weights 1 and (d - 2x)/scale, 0 < x < d, with weights 1 - p, each times e^(loss/2) and a
#     constant. Summed, the moments are e^((a - 1)·D(a)) = F(θ)/F(h) at θ = (2a - 1)·h, with
#         F(θ) = cosh(dθ) + tanh(h)·coth(θ)·sinh(dθ).
#     In z = e^2θ, F is a polynomial of degree d (times a power of e^θ), and all its d zeros are on
#     the unit circle: on θ = iφ, sin(φ)·F = cos(dφ)·sin(φ) + tanh(h)·cos(φ)·sin(dφ) has the sign
#     of (-1)^j at φ = jπ/d for 0 < j < d, hence d - 2 zeros between these; and F falls from a
#     positive value at 0 to a negative one at π/d, hence one more there and, mirrored, one at the
#     other end (the same one if d = 1). So F is a product of factors 1 + θ²/c² with real c
#     (Hadamard), ln F is concave in θ², and (ln F)'(t)/t doesn't grow with t. From t = h on, then,
#     (ln F)'(t) <= (t/h)·(ln F)'(h), and
#         (a - 1)·D(a) = ∫ (ln F)'(t) dt from h to θ <= (θ² - h²)/(2h)·(ln F)'(h)
#                      = a·(a - 1)·2h·(ln F)'(h),
#     while D(1) = 2h·(ln F)'(h), the limit as a falls to 1: D(a) <= a·D(1). ∎
# D(1) = (d - 2p·(1 - p^d)/(1 - p²))/scale. For d = 1 it is ε·tanh(ε/2), ε = 1/scale, the bound of
# any ε-DP mechanism; the classic ε²/2 of Bun & Steinke 2016, Prop. 1.4, is above it.


@lru_cache(maxsize=1024)
def _rho_of_one(scale: Fraction, move: int) -> Fraction:
    """Return the zCDP loss, rounded up, of one coordinate that moves by `move`."""
    if move == 0:
        return Fraction(0)
    # 1 - p and 1 - p^d cancel up to log10(scale) digits each, and the difference as many again.
    digits = 40 + 3 * len(str(math.ceil(scale)))
    p, power = exp(-1 / scale, digits), exp(-move / scale, digits)
    taken = 2 * p.low * (1 - power.high) / (1 - p.low**2)
    return round_up((move - taken) / scale)
