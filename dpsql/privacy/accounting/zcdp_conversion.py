"""From rho-zCDP to (ε, δ) and back, rounded against ourselves.

rho-zCDP implies (ε, δ)-DP, for every a > 1, with
    ε = a·rho + ln(1/(a·δ))/(a - 1) + ln(1 - 1/a)
    δ = e^((a - 1)·(a·rho - ε))·(1 - 1/a)^a/(a - 1)
(Canonne, Kamath & Steinke 2020, Proposition 12 and Corollary 13). Any a gives a valid bound: floats
only pick a, and the bound for that a is computed in decimal and rounded up.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from dpsql.privacy.directed_rounding import exp_above, ln, ln_above, round_down, round_up


@lru_cache(maxsize=4096)
def epsilon_of_rho(rho: Fraction, delta: Fraction) -> Fraction:
    """Return the least ε of the conversion over all a, rounded up: rho-zCDP implies (ε, δ)-DP.

    Raises ValueError for a negative rho or a delta outside (0, 1).
    """
    _check(rho, delta)
    if rho == 0:
        return Fraction(0)
    # By s = a - 1 the derivative of ε is rho - (ln(1/δ) - ln(1 + s))/s², so ε is least where
    # rho·s² + ln(1 + s) reaches ln(1/δ), and it does that once.
    rate, ln_inverse_delta = float(rho), _ln_inverse(delta)

    def is_past(s: float) -> bool:
        return rate * s * s + math.log1p(s) >= ln_inverse_delta

    s = _first_past(is_past, ln_inverse_delta)
    return max(round_up((1 + s) * rho + _without_rho(s, delta)), Fraction(0))


@lru_cache(maxsize=4096)
def rho_of_epsilon(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return the largest rho with epsilon_of_rho(rho, delta) <= epsilon, or barely less.

    It is less by 1 in 10^9 at most, for ε from 10^-9 on and δ from 10^-20 on.
    """
    _check(epsilon, delta)
    # Where ε is least, rho = (ln(1/δ) - ln(1 + s))/s², which makes both fall with s. As δ·(1 + s)
    # reaches 1, rho reaches 0 and ε reaches ln(1 - δ) < 0, so the wanted ε lies before.
    wanted, ln_inverse_delta = float(epsilon), _ln_inverse(delta)

    def is_past(s: float) -> bool:
        left = (ln_inverse_delta - math.log1p(s)) / s
        return left * (1 + s) / s + left - math.log1p(1 / s) <= wanted

    s = _first_past(is_past, ln_inverse_delta)
    rho = round_down(max((epsilon - _without_rho(s, delta)) / (1 + s), Fraction(0)), digits=20)
    # epsilon_of_rho may pick a neighbouring float and end a hair above: give way until it doesn't.
    give_way = Fraction(1, 10**15)
    while epsilon_of_rho(rho, delta) > epsilon:
        rho = round_down(rho * max(1 - give_way, Fraction(0)), digits=20)
        give_way *= 2
    return rho


def delta_of_rho(rho: Fraction, epsilon: Fraction) -> Fraction:
    """Return the least δ of the conversion over all a, rounded up: rho-zCDP implies (ε, δ)-DP.

    Raises ValueError for a negative rho or epsilon.
    """
    if rho < 0 or epsilon < 0:
        raise ValueError("a loss is at least 0")
    if rho == 0:
        return Fraction(0)
    # By s = a - 1 the derivative of ln δ is (1 + 2s)·rho - ε + ln(s/(1 + s)), which grows with s.
    rate, wanted = float(rho), float(epsilon)

    def is_past(s: float) -> bool:
        return (1 + 2 * s) * rate - wanted - math.log1p(1 / s) >= 0

    s = _first_past(is_past, 700.0)
    tilt = exp_above(s * ((1 + s) * rho - epsilon))
    return min(round_up(tilt * exp_above((1 + s) * ln_above(s / (1 + s))) / s), Fraction(1))


def _check(loss: Fraction, delta: Fraction) -> None:
    if loss < 0 or not 0 < delta < 1:
        raise ValueError("a loss is at least 0, and the delta it converts at between 0 and 1")


def _without_rho(s: Fraction, delta: Fraction) -> Fraction:
    """Return ln(1/(a·δ))/(a - 1) + ln(1 - 1/a) for a = 1 + s, rounded up."""
    a = 1 + s
    return ln_above(1 / (a * delta)) / s + ln_above(s / a)


@lru_cache(maxsize=256)
def _ln_inverse(delta: Fraction) -> float:
    return -float(ln(delta).low)


def _first_past(is_past: Callable[[float], bool], ln_inverse_delta: float) -> Fraction:
    """Return the s where `is_past` becomes true, by bisection of ln s, up to s = ln(1/δ)."""
    low, high = -60.0, min(ln_inverse_delta, 700.0)
    for _ in range(70):
        middle = (low + high) / 2
        if is_past(math.exp(middle)):
            high = middle
        else:
            low = middle
    return Fraction(math.exp(high))
