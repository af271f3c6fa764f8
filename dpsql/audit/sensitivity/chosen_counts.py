"""Counts of chosen cells: whether the charged loss covers the choice and any counts it may take."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import assert_never

from dpsql.privacy.accounting.loss import Accounting, PrivacyLoss
from dpsql.privacy.accounting.zcdp_conversion import rho_of_epsilon
from dpsql.privacy.mechanisms.noise.correlated import CorrelatedNoise
from dpsql.privacy.mechanisms.noise.gaussian import DiscreteGaussian
from dpsql.privacy.mechanisms.noise.k_norm import KNormNoise
from dpsql.privacy.mechanisms.noise.laplace import DiscreteLaplace
from dpsql.privacy.mechanisms.noise.noise import Noise
from dpsql.privacy.mechanisms.noise.rounded import RoundedNoise
from dpsql.privacy.mechanisms.noise.rounded_gaussian import RoundedGaussian
from dpsql.privacy.mechanisms.one_direction import OneDirectionNoise


def covers_counts(loss: PrivacyLoss, noise: Noise, moves: Sequence[int], units: int) -> bool:
    """Whether `loss` covers what `noise` loses where the counts of all cells change by `moves`.

    As many are shown as noise is drawn for, or as `moves` has; they are the cells that change most.
    Of Gaussian noise under approx, `loss` is converted to ρ at its δ. `units` differ.
    """
    match noise:
        case DiscreteLaplace() | DiscreteGaussian() | RoundedGaussian():
            return _spent(noise, moves, loss.accounting) <= _granted(noise, loss)
        case CorrelatedNoise(law=law):
            times = 2 if loss.accounting is Accounting.GDP else 1
            is_one_way = min(moves, default=0) >= 0 or max(moves, default=0) <= 0
            is_near = all(abs(move) <= units * law.centers[0] for move in moves)
            spent = times * units**2 * law.rho(law.centers)
            return is_near and (is_one_way or units > 1) and spent <= _granted(noise, loss)
        case KNormNoise(law=law) | OneDirectionNoise(law=law):
            is_one_way = min(moves, default=0) >= 0 or max(moves, default=0) <= 0
            levels = [-(-abs(move) * law.levels // law.moves[0]) for move in moves]
            spent = max(levels, default=0) * law.epsilon / law.levels
            may_be_both = isinstance(noise, KNormNoise) or units > 1
            return (is_one_way or may_be_both) and spent <= loss.amount
        case RoundedNoise():
            return False  # counts of chosen cells are of whole rows
        case missing:
            assert_never(missing)


def largest_moves(change: Sequence[int], count: int) -> list[int]:
    """The changes of the `count` cells that change most."""
    return sorted(change, key=abs, reverse=True)[:count]


def _granted(noise: Noise, loss: PrivacyLoss) -> Fraction:
    if loss.accounting is Accounting.APPROX and not isinstance(noise, DiscreteLaplace):
        return rho_of_epsilon(loss.amount, loss.delta)
    return loss.amount


def _spent(
    noise: DiscreteLaplace | DiscreteGaussian | RoundedGaussian,
    moves: Sequence[int],
    accounting: Accounting,
) -> Fraction:
    match noise:
        case DiscreteLaplace() if accounting in (Accounting.PURE, Accounting.APPROX):
            return sum((abs(move) / noise.scale for move in moves), Fraction(0))
        case DiscreteLaplace():
            return sum((noise.rho(abs(move)) for move in moves if move), Fraction(0))
        case DiscreteGaussian():
            return noise.rho(sum(move**2 for move in moves))
        case RoundedGaussian():
            return noise.mu_squared(sum(move**2 for move in moves))
        case missing:
            assert_never(missing)
