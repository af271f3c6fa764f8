"""Composition of measurements that are fixed beforehand, by privacy loss distributions.

The sum of their ε grows with their number, their loss by composition more like its root: 100 counts
at ε = 0.1 are (4.78, 10⁻⁶)-DP together, not 10. This holds only for measurements whose kinds and
parameters are all fixed before the first answer is seen; for an analyst who chooses as they go it
is no filter (Tran, Koskela, Räisä & Honkela 2026).

Each measurement has a dominating pair of laws (Zhu, Dong & Wang 2022, Theorem 10: those of a
composition are the products, though later measurements may look at earlier answers):

- whatever is ε-DP, the randomised response of that ε (Kairouz, Oh & Viswanath 2015), which has the
  privacy loss of discrete Laplace noise of scale 1/ε whose value moves by 1;
- a coordinate with discrete Laplace or Gaussian noise, itself and itself moved as far as it may:
  both laws are log-concave, so a lesser move is dominated by it.

Google's dp-accounting discretises the laws' privacy losses pessimistically, so that each curve of
(ε, δ) is an upper bound: "connect the dots" for Laplace (Doroshenko, Ghazi, Kamath, Kumar &
Manurangsi 2022), losses rounded up for Gaussian noise; tails that it cuts count as infinite losses.
Parameters are rounded towards more loss before. It computes in floating point: a hundredth of δ is
set aside for the errors of its Fourier transforms, which are below 10⁻¹¹, and ε is rounded up.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, assert_never

from msgspec import Struct

from dpsql.errors import NotSupportedError
from dpsql.installed_extra import install_extra
from dpsql.privacy.mechanisms.noise.gaussian import DiscreteGaussian
from dpsql.privacy.mechanisms.noise.laplace import DiscreteLaplace
from dpsql.privacy.mechanisms.noise.noise import IndependentNoise
from dpsql.privacy.mechanisms.noise.rounded_gaussian import RoundedGaussian

MIN_DELTA = Fraction(1, 10**9)
"""The smallest δ that is composed for; below it the errors of floating point would count."""

WIDEST = 2**12
"""The largest standard deviation of Gaussian noise, and the largest shift, of a listed law."""

_CELLS = 2**18
_FINEST, _COARSEST = 1e-7, 1e-3


class ShiftedNoise(Struct, frozen=True):
    """One coordinate with noise of `mechanism`, whose value neighbours move by at most `shift`."""

    mechanism: IndependentNoise
    shift: int


class PureLoss(Struct, frozen=True):
    """Any measurement that is ε-DP."""

    epsilon: Fraction


ComposedLoss = ShiftedNoise | PureLoss


def composed_epsilon(losses: Mapping[ComposedLoss, int], delta: Fraction) -> Fraction:
    """An ε at which all of `losses` together, each so many times, are (ε, `delta`)-DP.

    It is rounded up to 10⁻⁶. Raises ValueError for a `delta` below MIN_DELTA, no losses, or
    Gaussian noise wider than WIDEST, whose law would be listed number by number; NotSupportedError
    if dp-accounting isn't installed.
    """
    if delta < MIN_DELTA or not losses:
        raise ValueError("nothing to compose, or at too small a delta")
    interval = _interval(losses)
    total = None
    for one, times in losses.items():
        law = _law(one, interval).self_compose(times)
        total = law if total is None else total.compose(law)
    assert total is not None
    epsilon = total.get_epsilon_for_delta(_down(delta * Fraction(99, 100)))
    return Fraction(math.ceil(Fraction(epsilon) * 10**6) + 1, 10**6)


def _law(measured: ComposedLoss, interval: float) -> Any:
    match measured:
        case ShiftedNoise(mechanism=mechanism, shift=move):
            return _law_of_noise(mechanism, move, interval)
        case PureLoss(epsilon=epsilon):
            return _laplace(epsilon, 1, interval)
        case missing:
            assert_never(missing)


def _law_of_noise(mechanism: IndependentNoise, move: int, interval: float) -> Any:
    match mechanism:
        case DiscreteLaplace(scale=scale):
            # As a pure measurement it costs a little more, and nothing is listed.
            rate, moved = (1 / scale, move) if move <= WIDEST else (move / scale, 1)
            return _laplace(rate, moved, interval)
        case DiscreteGaussian(variance=variance):
            if variance > WIDEST**2 or move > WIDEST:
                raise ValueError("the noise is too wide to be listed")
            return _accounting().from_discrete_gaussian_mechanism(
                math.nextafter(math.sqrt(_down(variance)), 0),
                sensitivity=move,
                value_discretization_interval=interval,
            )
        case RoundedGaussian(normal_variance=variance):
            # Before rounding, which loses nothing more.
            return _accounting().from_gaussian_mechanism(
                math.nextafter(math.sqrt(_down(variance)), 0),
                sensitivity=move,
                value_discretization_interval=interval,
            )
        case missing:
            assert_never(missing)


def _laplace(rate: Fraction, move: int, interval: float) -> Any:
    return _accounting().from_discrete_laplace_mechanism(
        _up(rate),
        sensitivity=move,
        value_discretization_interval=interval,
        use_connect_dots=True,
    )


def _interval(measured: Mapping[ComposedLoss, int]) -> float:
    """The width of cells so fine that some 2^18 of them hold all losses."""
    widest = sum(times * _typical(one) for one, times in measured.items())
    return min(max(widest / _CELLS, _FINEST), _COARSEST)


def _typical(measured: ComposedLoss) -> float:
    match measured:
        case PureLoss(epsilon=epsilon):
            return float(epsilon)
        case ShiftedNoise(mechanism=mechanism, shift=move):
            return move / math.sqrt(max(float(mechanism.variance), 1e-9))
        case missing:
            assert_never(missing)


def _up(value: Fraction) -> float:
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


def _down(value: Fraction) -> float:
    nearest = float(value)
    return nearest if Fraction(nearest) <= value else math.nextafter(nearest, 0)


def _accounting() -> Any:
    try:
        from dp_accounting.pld import (  # noqa: PLC0415 - an extra, and slow to import
            privacy_loss_distribution,
        )
    except ImportError:
        raise NotSupportedError(
            "batches need dp-accounting, which isn't installed",
            hint=f"run {install_extra('batch')}",
        ) from None
    return privacy_loss_distribution
