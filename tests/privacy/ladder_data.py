"""Values of units by known laws, their noisy ladders, and the error of each cap, exactly."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpsql.privacy.ladder.ladder import Ladder
from dpsql.privacy.ladder.rungs import half_octaves
from dpsql.privacy.mechanisms.noise.laplace import DiscreteLaplace
from dpsql.privacy.mechanisms.noise.noise import IndependentNoise

Floats = NDArray[np.float64]

RUNGS = half_octaves(Fraction(1), 80)
CAPS = np.array([float(rung) for rung in RUNGS[1:]])
NEARLY_NONE = DiscreteLaplace(Fraction(1, 100))
HALF_EPSILON = DiscreteLaplace(Fraction(2))
"""Of counts at ε = 0.5, where a unit more or less changes one count by one."""


def rung_counts(values: Floats, rungs: tuple[Fraction, ...] = RUNGS) -> NDArray[np.int64]:
    """How many values are in each rung."""
    edges = np.array([float(rung) for rung in rungs])
    found = np.minimum(np.searchsorted(edges, values, side="left"), edges.size - 1)
    return np.bincount(found, minlength=edges.size).astype(np.int64)


def laplace(random: np.random.Generator, scale: float, size: int) -> NDArray[np.int64]:
    """Discrete Laplace noise, the difference of two geometric numbers."""
    p = 1 - np.exp(-1 / scale)
    return random.geometric(p, size) - random.geometric(p, size)


def noisy_ladder(values: Floats, random: np.random.Generator, step: int = 0) -> Ladder:
    """At ε = 0.5."""
    counts = rung_counts(values) + laplace(random, 2.0, len(RUNGS))
    return Ladder(tuple(counts.tolist()), RUNGS, HALF_EPSILON, Fraction(step))


def exact_ladder(values: Floats, step: int = 0, noise: IndependentNoise = NEARLY_NONE) -> Ladder:
    """With counts as they are, and noise that is hardly ever any."""
    return Ladder(tuple(rung_counts(values).tolist()), RUNGS, noise, Fraction(step))


def excesses(values: Floats, caps: Floats = CAPS) -> Floats:
    """Σ (value - cap)+ for each cap."""
    ordered = np.sort(values)
    sums = np.concatenate([[0.0], np.cumsum(ordered)])
    below = np.searchsorted(ordered, caps, side="right")
    return np.asarray(np.maximum(sums[-1] - sums[below] - caps * (ordered.size - below), 0.0))


def errors(values: Floats, epsilon: float) -> Floats:
    """The mean absolute error of the sum at each of `CAPS`, with Laplace noise of scale cap/ε."""
    bias, noise = excesses(values), CAPS / epsilon
    return np.asarray(bias + noise * np.exp(-bias / noise))


def incomes(random: np.random.Generator) -> Floats:
    return np.asarray(random.lognormal(10, 2, 100_413))


def uniform(random: np.random.Generator) -> Floats:
    return random.integers(1, 41, 100_000).astype(np.float64)


def rows(random: np.random.Generator) -> Floats:
    """Log-normal, of a mean of 5.5 once they are rounded up."""
    return np.ceil(random.lognormal(np.log(5) - 0.5, 1, 100_000))


def zipf(random: np.random.Generator) -> Floats:
    return random.zipf(2, 100_000).astype(np.float64)


def pareto(random: np.random.Generator) -> Floats:
    return np.round(10 * (random.pareto(1.3, 100_000) + 1))
