"""How many units are in each rung of a ladder, those beyond its top included."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final

import numpy as np
from msgspec import Struct

from dpsql.privacy.ladder.ladder import Ladder
from dpsql.privacy.ladder.lattice import DRAWS, Floats
from dpsql.privacy.ladder.tail_model import (
    BEYOND,
    NEAR,
    FittedRungs,
    expected_units,
    likeliest_units,
)

_SHORTEST_FIT: Final = 5
_LONGEST_FIT: Final = 16
"""The model is fitted to so many rungs below the top,"""

_MANY: Final = 2500
"""but not to those below one with so many units: they say nothing of the tail."""

_SOLID: Final = 8
"""A count of so many of its noise's deviations is believed, whatever the model says."""

_LARGEST: Final = 10**15
"""Counts beyond this are taken for it."""


class RungUnits(Struct, frozen=True, eq=False):
    """Equally likely draws of how many units are expected in the rungs from 1 on.

    `mean` and `variance` have the shape (DRAWS, rungs); the variance is what is unknown of the
    number in that draw. Rungs behind the last of these have no units.
    """

    mean: Floats
    variance: Floats


class RungEdges(Struct, frozen=True, eq=False):
    """Where the rungs from 1 on lie, in the magnitudes' own unit.

    A rung spreads from `low` to `high`; its values are from `smallest` to `largest`. Over a grid
    these are half a step inside: what rounds to 5 lies between 4.5 and 5.5.
    """

    low: Floats
    high: Floats
    smallest: Floats
    largest: Floats

    def first(self, count: int) -> RungEdges:
        """Only so many rungs."""
        chosen = slice(count)
        return RungEdges(
            self.low[chosen], self.high[chosen], self.smallest[chosen], self.largest[chosen]
        )


@lru_cache(maxsize=64)
def rung_units(ladder: Ladder) -> RungUnits:
    """Return what a ladder says of the number of units in each rung, up to `BEYOND` its top."""
    counts, edges = noisy_counts(ladder), rung_edges(ladder)
    deviation = math.sqrt(ladder.noise.variance)
    # Without a top the ladder says nothing, and nothing is expected far up: noise of a cap that is
    # much too high would be worse than what one much too low cuts off.
    top = max(ladder.top() - 1, 0)
    first = _first_fitted(counts, top)
    end = min(top + BEYOND, counts.size)
    middles = np.log2(edges.low) + np.log2(edges.high)
    width = 2 * (np.log2(edges.high) - np.log2(edges.low))
    fitted = slice(first, end)
    rungs = FittedRungs(counts[fitted], (middles - middles[top])[fitted], width[fitted])
    expected, spread = expected_units(rungs, float(counts[top]), ladder.noise)
    mean = np.tile(np.maximum(counts[:end], 0.0), (DRAWS, 1))
    variance = np.tile(np.minimum(deviation**2, mean[0] + 1), (DRAWS, 1))
    # Noise alone is so many deviations once in ten thousand ladders: far above the top none is
    # believed, where it would be taken for units that are worth more than all others together.
    is_far = np.arange(first, end) > top + NEAR
    faint = (counts[fitted] < _SOLID * deviation) | is_far
    mean[:, fitted] = np.where(
        faint, likeliest_units(expected, spread, counts[fitted], ladder.noise), mean[:, fitted]
    )
    unknown = spread * deviation**2 / (spread + deviation**2)
    variance[:, fitted] = np.where(faint, unknown, variance[:, fitted])
    return RungUnits(mean, variance)


def noisy_counts(ladder: Ladder) -> Floats:
    """Return the counts of the rungs from 1 on, as floats."""
    return np.array([float(min(max(count, -_LARGEST), _LARGEST)) for count in ladder.counts[1:]])


def rung_edges(ladder: Ladder) -> RungEdges:
    """Return where the rungs from 1 on lie; the lowest is taken for as wide as others."""
    values = np.array([float(rung) for rung in ladder.rungs])
    step = float(ladder.step)
    low, high = values[:-1] + step / 2, values[1:] + step / 2
    if ladder.step != ladder.rungs[1]:
        low[0] = high[0] / math.sqrt(2)
    smallest = np.minimum(np.maximum(low, values[:-1] + step), values[1:])
    return RungEdges(low, high, smallest, values[1:])


def _first_fitted(counts: Floats, top: int) -> int:
    """The lowest rung that the model is fitted to."""
    first = top
    while first > 0 and top - first < _LONGEST_FIT:
        if top - first >= _SHORTEST_FIT and counts[first] >= _MANY:
            break
        first -= 1
    return first
