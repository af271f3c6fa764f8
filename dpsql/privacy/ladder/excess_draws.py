"""How much a cap cuts off: draws of the excess Σ (value - cap)+ at every rung."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np
from msgspec import Struct

from dpsql.privacy.ladder.ladder import Ladder
from dpsql.privacy.ladder.lattice import Floats, scattered, uniforms
from dpsql.privacy.ladder.part_units import part_units
from dpsql.privacy.ladder.rung_units import RungUnits, rung_edges, rung_units
from dpsql.privacy.ladder.unit_values import UnitValues, unit_values

_DIMENSION = 1
"""The lattice's first dimension for numbers of units."""

_OF_SHARES = 121
"""The lattice's dimension for a part's share that isn't known."""


class ExcessDraws(Struct, frozen=True, eq=False):
    """Equally likely draws of what units contribute beyond each rung, and how many they are.

    `beyond` has the shape (DRAWS, caps). The first of the `caps` is 0, so that its column is the
    whole sum; nothing is expected beyond the last.
    """

    caps: Floats
    beyond: Floats
    units: float

    @property
    def total(self) -> Floats:
        """Draws of the whole sum."""
        return np.asarray(self.beyond[:, 0])

    def at(self, cap: float) -> Floats:
        """Return draws of the excess beyond any cap: between rungs on the chord, not below it."""
        right = int(np.searchsorted(self.caps, cap))
        if right == self.caps.size:
            return np.zeros(self.beyond.shape[0])
        left = max(right - 1, 0)
        span = self.caps[right] - self.caps[left]
        part = (cap - self.caps[left]) / span if span else 0.0
        return np.asarray(self.beyond[:, left] * (1 - part) + self.beyond[:, right] * part)


def excess_draws(
    ladder: Ladder,
    share: Fraction,
    own: Ladder | None = None,
    lowest_share: Fraction | None = None,
) -> ExcessDraws:
    """Return draws for a part of all units, each being in it with probability `share`.

    Shares may come of noisy counts: one that is less than a unit's is taken for that, one above 1
    for all units. One that isn't known is anything between `lowest_share` and `share`, half of the
    draws below their geometric mean.
    `own` is the part's ladder, on the same rungs, where there is one. Raises ValueError for others.
    """
    units, values, caps = _prepared(ladder)
    single = 1 / max(float(units.mean.sum(axis=1).mean()), 1.0)
    probability = max(float(min(max(share, Fraction(0)), Fraction(1))), single)
    if own is None:
        lowest = probability if lowest_share is None else max(float(lowest_share), single)
        position = uniforms(_OF_SHARES, 1)
        chance = np.minimum(lowest, probability) ** position * probability ** (1 - position)
        mean = chance * units.mean
        variance = chance * (1 - chance) * units.mean + chance**2 * units.variance
        return _draws(RungUnits(mean, variance), values, caps)
    if own.rungs != ladder.rungs or own.step != ladder.step:
        raise ValueError("a part's ladder has the rungs of the one of all units")
    part = part_units(units, probability, own)
    draws = _draws(part.units, values, caps)
    return draws if part.alike else _mixed(draws, excess_draws(own, Fraction(1)))


def _draws(units: RungUnits, values: UnitValues, caps: Floats) -> ExcessDraws:
    """Draws where so many units, of such values, are in the rungs."""
    number = scattered(units.mean, units.variance, _DIMENSION)
    # At each cap, of the rungs above it: what they sum to, less the cap of each unit.
    above, total = _sums_above(number), _sums_above(number * values.of(number))
    return ExcessDraws(caps, np.maximum(total - above * caps, 0.0), float(above[:, 0].mean()))


def _mixed(one: ExcessDraws, other: ExcessDraws) -> ExcessDraws:
    """Draws of both in turn."""
    longer = max(one, other, key=lambda draws: draws.caps.size)
    beyond = np.zeros_like(longer.beyond)
    beyond[::2, : one.caps.size] = one.beyond[::2]
    beyond[1::2, : other.caps.size] = other.beyond[1::2]
    return ExcessDraws(longer.caps, beyond, (one.units + other.units) / 2)


@lru_cache(maxsize=64)
def _prepared(ladder: Ladder) -> tuple[RungUnits, UnitValues, Floats]:
    """What doesn't depend on the part."""
    units = rung_units(ladder)
    rungs = units.mean.shape[1]
    caps = np.array([float(rung) for rung in ladder.rungs[: rungs + 1]])
    return units, unit_values(units, rung_edges(ladder).first(rungs)), caps


def _sums_above(rungs: Floats) -> Floats:
    """Sums over the rungs behind each, one more than there are: of all, …, of the last, of none."""
    sums = np.zeros((rungs.shape[0], rungs.shape[1] + 1))
    np.cumsum(rungs[:, ::-1], axis=1, out=sums[:, -2::-1])
    return sums
