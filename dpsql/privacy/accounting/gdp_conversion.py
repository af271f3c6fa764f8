"""From Gaussian differential privacy to (ε, δ) and back, rounded against ourselves.

A measurement is μ-GDP if no test tells its two laws on neighbours apart better than N(0, 1) from
N(μ, 1) (Dong, Roth & Su 2022, "Gaussian Differential Privacy"). It then is (ε, δ)-DP for every ε
with
    δ = Φ(μ/2 - ε/μ) - e^ε·Φ(-μ/2 - ε/μ)
(their Corollary 1; Balle & Wang 2018, Theorem 8), and for no smaller δ if it is Gaussian noise.
What adds up is μ² (docs/ledger.md has the proof), so that is what is converted.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from dpsql.privacy.directed_rounding import exp, round_down, round_up, sqrt
from dpsql.privacy.normal_law import FARTHEST, upper_tail

_DIGITS = 25
_NEWTON_STEPS = 3


def delta_of_mu_squared(mu_squared: Fraction, epsilon: Fraction) -> Fraction:
    """Return the δ of μ-GDP at ε, rounded up.

    Raises ValueError for a negative loss.
    """
    if mu_squared < 0 or epsilon < 0:
        raise ValueError("a loss is at least 0")
    if mu_squared == 0:
        return Fraction(0)
    # δ rises with μ, so that of a μ that is rounded up bounds it.
    mu = sqrt(mu_squared).high
    near, far = upper_tail(epsilon / mu - mu / 2), epsilon / mu + mu / 2
    if far > FARTHEST:  # at most what is left out here
        return min(round_up(near.high), Fraction(1))
    return min(round_up(near.high - exp(epsilon).low * upper_tail(far).low), Fraction(1))


@lru_cache(maxsize=4096)
def epsilon_of_mu_squared(mu_squared: Fraction, delta: Fraction) -> Fraction:
    """Return the least ε at which μ-GDP implies (ε, δ)-DP, rounded up.

    Raises ValueError for a negative loss or a delta outside (0, 1).
    """
    _check(mu_squared, delta)
    if delta_of_mu_squared(mu_squared, Fraction(0)) <= delta:
        return Fraction(0)
    mu, wanted = math.sqrt(mu_squared), float(delta)
    # P(Z >= t) <= e^(-t²/2), so that no ε is above μ²/2 + μ·√(2·ln(1/δ)).
    highest = mu * (mu / 2 + math.sqrt(-2 * math.log(wanted)))
    epsilon = Fraction(_first(lambda e: _delta(mu, e) <= wanted, 0.0, highest))
    for _ in range(_NEWTON_STEPS):
        excess = delta_of_mu_squared(mu_squared, epsilon) - delta
        slope = _density(mu, float(epsilon)) * _mills(float(epsilon) / mu + mu / 2)
        epsilon = max(_moved(epsilon, excess, slope), Fraction(0))
    give_way = Fraction(highest) / 10**_DIGITS
    while delta_of_mu_squared(mu_squared, epsilon) > delta:
        epsilon = round_up(epsilon + give_way)
        give_way *= 2
    return epsilon


@lru_cache(maxsize=4096)
def mu_squared_of_epsilon(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return the largest μ² with epsilon_of_mu_squared(μ², delta) <= epsilon, or barely less.

    It is less by 1 in 10^9 at most, for ε from 10^-9 on and δ from 10^-20 on.
    """
    _check(epsilon, delta)
    at, wanted = float(epsilon), float(delta)
    mu = Fraction(math.exp(_first(lambda x: _delta(math.exp(x), at) > wanted, -60.0, 30.0)))
    for _ in range(_NEWTON_STEPS):
        excess = delta_of_mu_squared(mu**2, epsilon) - delta
        mu = max(_moved(mu, -excess, _density(float(mu), at)), mu / 2)
    mu_squared = round_down(mu**2, _DIGITS)
    give_way = Fraction(1, 10**_DIGITS)
    while epsilon_of_mu_squared(mu_squared, delta) > epsilon:
        mu_squared = round_down(mu_squared * max(1 - give_way, Fraction(0)), _DIGITS)
        give_way *= 2
    return mu_squared


def _check(loss: Fraction, delta: Fraction) -> None:
    if loss < 0 or not 0 < delta < 1:
        raise ValueError("a loss is at least 0, and the delta it converts at between 0 and 1")


def _moved(value: Fraction, excess: Fraction, slope: float) -> Fraction:
    """`value` after a step of Newton's method; the same where the slope is lost in a float."""
    if not slope > 0:
        return value
    return round_up(value + round_up(excess / Fraction(slope), _DIGITS), _DIGITS)


def _first(holds: Callable[[float], bool], low: float, high: float) -> float:
    """About the least number from `low` to `high` at which `holds`, a condition that stays true."""
    for _ in range(70):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _delta(mu: float, epsilon: float) -> float:
    """δ in floats, which errs by as many digits as its two terms have in common."""
    near, far = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    if near < 0:
        return math.erfc(near / math.sqrt(2)) / 2 - _density(mu, epsilon) * _mills(far)
    return _density(mu, epsilon) * (_mills(near) - _mills(far))


def _density(mu: float, epsilon: float) -> float:
    """The normal density at ε/μ - μ/2, which is e^ε times that at ε/μ + μ/2."""
    near = epsilon / mu - mu / 2
    return math.exp(-near * near / 2) / math.sqrt(2 * math.pi)


def _mills(z: float) -> float:
    """The normal tail over the density, for z >= 0."""
    if z > 20:
        return (1 - 1 / (z * z) + 3 / z**4) / z
    return math.erfc(z / math.sqrt(2)) / 2 * math.exp(z * z / 2) * math.sqrt(2 * math.pi)
