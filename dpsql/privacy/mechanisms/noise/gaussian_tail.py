"""The tail of discrete Gaussian noise, P(noise >= k) for P(x) ∝ e^(-x²/(2·variance)), rounded up.

Up to a standard deviation of 64 the tail is summed; above, it is bounded by the normal tail.
Both are proved upper bounds. The sum is above the truth by less than 1 in 10^15; the normal tail by
less than a hundredth of the step from k to k + 1, as long as k is below 15 standard deviations.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from dpsql.privacy.directed_rounding import exp_above, round_up, scaled_exp, sqrt
from dpsql.privacy.normal_law import upper_tail

SUMMED_UP_TO = 64**2
BITS = 128
ONE = 1 << BITS


def gaussian_tail(variance: Fraction, k: int) -> Fraction:
    """Return P(noise >= k), rounded up; for k >= 1."""
    if k < 1:
        raise ValueError("the tail begins at 1")
    if variance <= SUMMED_UP_TO:
        tail = exp_above(-k * k / (2 * variance)) * _ratio(variance, k) / _total(variance)
    else:
        tail = _normal_bound(variance, k)
    return round_up(min(tail, Fraction(1)))


def _ratio(variance: Fraction, k: int) -> Fraction:
    """Sum e^(-x²/2v) over x >= k, divided by its first term, rounded up."""
    # Fixed point, every factor and product rounded up. The next term over the last is at most
    # `factor`, and factors fall, so what is left after the loop is below term/(1 - factor).
    step = scaled_exp(1 / variance, BITS) + 1
    factor = scaled_exp((2 * k + 1) / (2 * variance), BITS) + 1
    term, total = ONE, 0
    while term > ONE >> 64:
        total += term
        term = (term * factor >> BITS) + 1
        factor = (factor * step >> BITS) + 1
    return Fraction(total, ONE) + Fraction(term, ONE - factor)


@lru_cache(maxsize=256)
def _total(variance: Fraction) -> Fraction:
    """Sum e^(-x²/2v) over all integers x, rounded down."""
    step = max(scaled_exp(1 / variance, BITS) - 1, 0)
    factor = max(scaled_exp(1 / (2 * variance), BITS) - 1, 0)
    term, total = ONE, -ONE  # 0 counts once
    while term:
        total += 2 * term
        term = term * factor >> BITS
        factor = factor * step >> BITS
    return Fraction(total, ONE)


def _normal_bound(variance: Fraction, k: int) -> Fraction:
    """Bound the tail by the normal tail from k - ½, plus what summing can add to the integral."""
    # Let f(x) = e^(-x²/2v) and d = √v. The sum of f over all integers is at least d·√(2π) (Poisson
    # summation: all terms are positive, and this is the first). Where f is convex, |x| >= d, f(x)
    # is at most its mean over [x - ½, x + ½] (Hermite-Hadamard), so the sum over x >= k is at most
    # the integral from k - ½. Anywhere, f(x) exceeds its mean by at most ⅛ of the integral of |f''|
    # over that interval (Peano kernel (½ - |u|)²/2); from 0 to ∞, f' falls to -e^-½/d and rises
    # again, so that is 2·e^-½/(8d) in all, and over d·√(2π) below 1/(16v).
    start = Fraction(2 * k - 1, 2)
    excess = Fraction(0) if start * start >= variance else 1 / (16 * variance)
    return normal_tail(start / sqrt(variance).high) + excess


def normal_tail(z: Fraction) -> Fraction:
    """Return P(Z >= z) for the standard normal law, rounded up; for z >= 0."""
    return upper_tail(z).high
