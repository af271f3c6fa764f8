"""The (ε, δ) of Gaussian noise, in floats (Balle & Wang 2018, Theorem 8)."""

from __future__ import annotations

import math

from scipy import optimize, special


def hockey_stick(mu: float, epsilon: float) -> float:
    """The least δ at ε of two unit normals `mu` apart."""
    if mu == 0:
        return max(0.0, -math.expm1(epsilon))
    near = special.log_ndtr(mu / 2 - epsilon / mu)
    far = epsilon + special.log_ndtr(-mu / 2 - epsilon / mu)
    return float(math.exp(near) * -math.expm1(far - near))


def epsilon_of(mu: float, delta: float) -> float:
    return float(
        optimize.brentq(lambda e: hockey_stick(mu, e) - delta, 0, 500, xtol=1e-13, rtol=1e-14)
    )


def mu_of(epsilon: float, delta: float) -> float:
    return float(
        optimize.brentq(
            lambda mu: hockey_stick(mu, epsilon) - delta, 1e-6, 50, xtol=1e-15, rtol=1e-14
        )
    )
