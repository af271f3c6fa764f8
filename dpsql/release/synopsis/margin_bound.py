"""How far a synopsis is off over margins that no round measured, by what its choices guarantee.

A round chose partition c of all candidates r, by losses floor(pen_r) - D_r, for D_r = Σ|w_r - n_r|
of the weights' counts and the rows' before it. Three things follow, all of released values:

- The exponential mechanism takes a candidate whose loss is x or more above the least one with a
  probability of at most |candidates|·e^(-rate·x) (McSherry & Talwar 2007). So D_r - pen_r is no
  more than D_c - pen_c + ln(|candidates|/β)/rate, of all r at once, but with probability β.
- Counts y = n_c + z were measured then. With s the signs of n_c - w_c, which were settled before z
  was drawn, D_c = Σ s·(y - w_c) - Σ s·z <= Σ|y - w_c| - Σ s·z. A sum of independent draws has a
  tail by its moments, whatever their signs.
- Since then the weights moved, by what anybody can compute: Σ|v_r - n_r| <= D_r + Σ|v_r - w_r|.

(As McKenna, Mullins, Sheldon & Miklau 2022, Section 6, whose Theorem 4 bounds D_c by the mean of
the noise beside it; here the signs need no such term.) A margin is taken of the round that bounds
it best, since all rounds' bounds hold at once: a round that takes k of T parts may fail with k/T of
what is left to fail, decided before it is drawn, and no part is taken twice.

Any sum of a margin's counts is off by half of that: the errors e add up to E, the error of all
rows, so that those above 0 are at most (Σ|e| + |E|)/2, and those below as well. One count is off by
no more than the larger of the rows and their estimate, and both are part of those of fewer keys.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
from msgspec import Struct

from dpsql.privacy.allocation.mwem_calibration import MwemParameters
from dpsql.privacy.mechanisms.noise.laplace import DiscreteLaplace
from dpsql.privacy.mechanisms.noise.noise import IndependentNoise
from dpsql.release.columns.integer_arrays import rounded
from dpsql.release.synopsis.cell_partition import Partition
from dpsql.release.synopsis.mwem import LARGEST_LOSS, Round, Synopsis, penalty
from dpsql.release.synopsis.weight_fit import Estimates, Measured

CONFIDENCE: Final = 0.95
"""All bounds of a synopsis hold at once with this probability."""

_MAX_MARGINS = 256
"""Bounds are told of so many margins: those with the fewest counts."""

_OF_TOTAL = 0.1
"""The share of what may fail that the number of rows has."""

_ROUNDED_BY = 2.0**-40
"""More than the share by which sums of as many doubles as there are cells are rounded."""

_THETAS = tuple(n / 20 for n in range(1, 20))
"""Where the moments of Laplace noise are tried: any of them gives a bound."""


class MarginBound(Struct, frozen=True):
    """How far the margin over `axes`, of all cells with one value along each of them, is off.

    None of its counts by more than `of_count`, nor the sum of any of them by more than `of_sum`,
    which is None where no round tells.
    """

    axes: tuple[int, ...]
    of_count: int
    of_sum: int | None


def margin_bounds(
    synopsis: Synopsis[Estimates],
    among: Sequence[Partition],
    parameters: MwemParameters,
    failure: float,
    *,
    is_count: bool,
) -> tuple[MarginBound, ...]:
    """The bounds of a synopsis whose rounds chose `among` these partitions.

    But with a probability of `failure`, at most, they hold of all margins together. Nothing is read
    but what the synopsis is made of. Units are rows, or integer steps of sums; where it `is_count`,
    neither rows nor estimates are below zero.
    """
    beyond = [_beyond_penalty(one, among, parameters, failure) for one in synopsis.rounds]
    total = _off_in_all(synopsis, parameters.total, failure * _OF_TOTAL)
    largest = [(frozenset[int](), float(synopsis.estimates.sum()) + total)] if is_count else []
    bounds = []
    for margin in _margins(among):
        axes, sums = margin.single_axes, margin.sums(synopsis.estimates)
        distance = min(
            (
                known + penalty(parameters, margin, one.taken) + _moved(margin, one, sums)
                for one, known in zip(synopsis.rounds, beyond, strict=True)
                if known < LARGEST_LOSS / 2
            ),
            default=math.inf,
        )
        of_sum = min(max(distance, 0.0), max(distance + total, 0.0) / 2)
        # No count is larger than one that it is part of, and neither is its estimate. That is so of
        # a count alone: one of other keys, which several counts add up to, is no part of the other.
        caps = [cap for coarser, cap in largest if coarser <= {*axes}]
        of_count = min(of_sum, *caps, math.inf)
        if is_count:
            largest.append((frozenset(axes), float(sums.max()) + of_count))
        if math.isfinite(of_count):
            some = _rounded_up(of_sum) if math.isfinite(of_sum) else None
            bounds.append(MarginBound(axes, _rounded_up(of_count), some))
    return tuple(bounds)


def _rounded_up(bound: float) -> int:
    return math.ceil(bound * (1 + _ROUNDED_BY)) + 1


def _margins(among: Sequence[Partition]) -> list[Partition]:
    """Those that cut no axis into blocks, those of few axes first."""
    whole = [
        one
        for one in among
        if all(size == 1 or size >= n for n, size in zip(one.shape, one.sizes, strict=True))
    ]
    return sorted(whole[:_MAX_MARGINS], key=lambda one: len(one.single_axes))


def _beyond_penalty(
    one: Round[Estimates], among: Sequence[Partition], parameters: MwemParameters, failure: float
) -> float:
    """What D_r - pen_r is no more than, of all candidates r of a round."""
    share = failure * (1 - _OF_TOTAL) * one.taken / parameters.parts / 2
    chosen = one.measured.partition
    weights = rounded(chosen.sums(one.before)).astype(np.float64)
    seen = _distance(one.measured.counts, weights)
    noise = parameters.noise(one.taken, chosen.merged)
    worse = math.log(len(among) / share) / float(parameters.choice(one.taken).rate)
    off = seen + noise_of_sum(noise, chosen.boxes, share)
    return off - penalty(parameters, chosen, one.taken) + worse


def _moved(margin: Partition, one: Round[Estimates], sums: Estimates) -> float:
    return _distance(rounded(margin.sums(one.before)).astype(np.float64), sums)


def _distance(left: Estimates, right: Estimates) -> float:
    """Σ|left - right|, and more than what doubles are rounded by."""
    size = float(np.abs(left).sum()) + float(np.abs(right).sum())
    return float(np.abs(left - right).sum()) + size * _ROUNDED_BY


def _off_in_all(synopsis: Synopsis[Estimates], noise: IndependentNoise, failure: float) -> float:
    """How far the sum of all estimates is off: by its first measurement, which is of all cells."""
    first: Measured = synopsis.measured[0]
    distance = _distance(synopsis.estimates.sum(keepdims=True), first.counts)
    return distance + noise_of_sum(noise, 1, failure / 2)


def noise_of_sum(noise: IndependentNoise, draws: int, failure: float) -> float:
    """What Σ s·z of so many draws z, of settled signs s, passes with `failure` at most.

    Discrete Gaussian noise has no larger moments E e^(λz) than the normal law of its parameter
    (Canonne, Kamath & Steinke 2020), and rounded Gaussian noise is within ½ of a normal draw. Of
    Laplace noise they are at most 1/(1 - λ²b²): those of the integers are 1/(1 - (cosh λ - 1)/
    (cosh 1/b - 1)), and (cosh x - 1)/x² rises with x.
    """
    exponent = math.log(1 / failure)
    if isinstance(noise, DiscreteLaplace):
        moments = ((draws * -math.log1p(-theta * theta) + exponent) / theta for theta in _THETAS)
        return float(noise.scale) * min(moments)
    return math.sqrt(2 * draws * float(noise.variance) * exponent) + draws / 2
