"""How many units of a part are in each rung, by its own noisy ladder and by that of all units.

A small part's ladder is mostly noise, and that of all units says little of a part that is unlike
them. The part is taken for a random one of all, whose magnitudes are so many times theirs; by its
own ladder that factor is found, and each rung is moved toward its own count. Where no factor
explains its ladder well, its ladder alone is as likely to be right.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from msgspec import Struct

from dpsql.privacy.ladder.ladder import Ladder
from dpsql.privacy.ladder.lattice import Floats, uniforms
from dpsql.privacy.ladder.rung_units import RungUnits, noisy_counts
from dpsql.privacy.ladder.tail_model import likeliest_units, log_likelihood

_SHIFTS: Final = np.arange(-16, 17) / 2
"""A part's magnitudes are 2^(-4) to 2^4 times those of all units, in steps of half a rung."""

_SAME: Final = 8.0
"""A part is so many times as likely to be like all units as its neighbours in `_SHIFTS` say."""

_SHIFT_DEVIATION: Final = 2.0
"""The deviation of a part's shift, in rungs."""

_MISFIT: Final = 0.15
"""How far, relatively, a part's rungs lie beside those of all units, once shifted."""

_EXCUSED: Final = 3.0
"""A part's ladder is like that of all units up to so many deviations."""

_DIMENSION: Final = 120
"""The lattice's dimension for shifts."""


class PartUnits(Struct, frozen=True, eq=False):
    """Draws for a part, and whether its ladder is like that of all units, but for a factor."""

    units: RungUnits
    alike: bool


def part_units(units: RungUnits, share: float, own: Ladder) -> PartUnits:
    """Return draws for a part that has `share` of all units and this ladder, on the same rungs."""
    prior = share * units.mean
    counts = noisy_counts(own)[: prior.shape[1]]
    typical = prior.mean(axis=0)[None, :]
    scores = np.array([_score(_shifted(typical, shift), counts, own) for shift in _SHIFTS])
    # Of a rung like its expectation the score is -1 on average where noise is all, and -1/2 where
    # it is little; its deviation is 1 at most.
    alike = bool(scores.max() >= -counts.size - _EXCUSED * math.sqrt(counts.size))
    scores += np.where(_SHIFTS == 0, math.log(_SAME), 0) - _SHIFTS**2 / (2 * _SHIFT_DEVIATION**2)
    cumulative = np.cumsum(np.exp(scores - scores.max()))
    points = uniforms(_DIMENSION, 1)[:, 0] * cumulative[-1]
    chosen = np.searchsorted(cumulative, points)
    expected = np.empty_like(prior)
    for index in np.unique(chosen):
        rows = chosen == index
        expected[rows] = _shifted(prior[rows], _SHIFTS[index])
    spread = _spread(expected)
    variance = float(own.noise.variance)
    mean = likeliest_units(expected, spread, counts, own.noise)
    return PartUnits(RungUnits(mean, spread * variance / (spread + variance)), alike)


def _shifted(rungs: Floats, shift: float) -> Floats:
    """Each rung's number as it is `shift` rungs below; between two, their geometric mean."""
    logs = np.log(np.maximum(rungs, 1e-9))
    origins = np.arange(rungs.shape[1]) - shift
    low = np.clip(np.floor(origins).astype(np.intp), 0, rungs.shape[1] - 1)
    high = np.clip(np.ceil(origins).astype(np.intp), 0, rungs.shape[1] - 1)
    return np.asarray(np.exp((logs[:, low] + logs[:, high]) / 2))


def _score(expected: Floats, counts: Floats, own: Ladder) -> float:
    """How likely the part's counts are, less how likely counts without noise would be."""
    spread = _spread(expected)
    likely = log_likelihood(counts, expected, spread, own.noise)
    return float((likely - log_likelihood(expected, expected, spread, own.noise)).sum())


def _spread(expected: Floats) -> Floats:
    """The variance of a rung's number: Poisson's, and what parts differ by."""
    return np.asarray(expected + (_MISFIT * expected) ** 2)
