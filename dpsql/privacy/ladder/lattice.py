"""Fixed draws that stand for a posterior: the same points whenever they are used.

A posterior is summed up by `DRAWS` equally likely draws, whose uniform numbers are a rank-1 lattice
(Korobov 1959): evenly spread, and decided by nothing. So the choice of a limit is a function.
"""

from __future__ import annotations

from functools import lru_cache
from statistics import NormalDist
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

DRAWS: Final = 251
"""A prime, so that each dimension has every point once."""

_GENERATOR: Final = 54
_SMALL: Final = 8.0
"""Poisson variables of a mean up to this are inverted exactly; larger ones are nearly normal."""


@lru_cache(maxsize=1)
def _lattice() -> NDArray[np.intp]:
    """Which of the points each draw has in each dimension."""
    dimensions = range(DRAWS - 1)
    powers = [pow(_GENERATOR, dimension, DRAWS) for dimension in dimensions]
    # Without shifts the first draw would have the lowest point in all dimensions: no units at all.
    shifts = [dimension * (97 * dimension + 31) for dimension in dimensions]
    return (np.outer(np.arange(DRAWS), powers) + shifts).astype(np.intp) % DRAWS


@lru_cache(maxsize=1)
def _normal_points() -> Floats:
    inverse = NormalDist().inv_cdf
    return np.array([inverse((point + 0.5) / DRAWS) for point in range(DRAWS)])


def _points(first: int, dimensions: int) -> NDArray[np.intp]:
    """Of dimensions from `first` on; behind the last one the first follows again."""
    return np.asarray(_lattice()[:, np.arange(first, first + dimensions) % (DRAWS - 1)])


def uniforms(first: int, dimensions: int) -> Floats:
    """Return a row of uniform numbers in (0, 1) for each draw, of dimensions from `first` on."""
    return np.asarray((_points(first, dimensions) + 0.5) / DRAWS)


def normals(first: int, dimensions: int) -> Floats:
    """Return standard normal numbers at the same points as `uniforms`."""
    return np.asarray(_normal_points()[_points(first, dimensions)])


def scattered(mean: Floats, variance: Floats, first: int) -> Floats:
    """Return whole numbers, at least 0, of this mean and variance in the dimensions from `first`.

    Small ones are Poisson variables, stretched about their means to the variance; large ones are
    normal. The shape is (DRAWS, dimensions), that of both arguments.
    """
    score = normals(first, mean.shape[1])
    # Cornish & Fisher's first correction: a Poisson variable is a little skewed.
    skewed = (score**2 - 1) / 6 * variance / np.maximum(mean, 1.0)
    drawn = mean + np.sqrt(variance) * score + skewed
    few = np.flatnonzero(mean.min(axis=0) < _SMALL)
    if few.size:
        rates = np.minimum(mean[:, few], _SMALL)
        poisson = _poisson(rates, uniforms(first, mean.shape[1])[:, few])
        stretch = np.sqrt(variance[:, few] / np.maximum(rates, 1e-12))
        small = rates + (poisson - rates) * stretch
        drawn[:, few] = np.where(mean[:, few] < _SMALL, small, drawn[:, few])
    return np.maximum(np.rint(drawn), 0.0)


def _poisson(rates: Floats, uniform: Floats) -> Floats:
    """Return the least n with P(Poisson(rate) <= n) >= uniform, of rates up to `_SMALL`."""
    numbers = np.zeros(rates.size)
    rate, left = rates.ravel(), uniform.ravel()
    term = np.exp(-rate)
    left = left - term
    where = np.arange(rate.size)
    # The largest uniform is below 1 - 1/1000, which Poisson(8) passes at 18.
    for number in range(1, 24):
        above = left > 0
        if not above.any():
            break
        where, rate, term, left = where[above], rate[above], term[above], left[above]
        numbers[where] = number
        term = term * rate / number
        left = left - term
    return numbers.reshape(rates.shape)
