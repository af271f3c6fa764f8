"""What the units of a rung contribute on average: rungs are wide, and not evenly filled."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from dpsql.privacy.ladder.lattice import Floats, normals
from dpsql.privacy.ladder.rung_units import RungEdges, RungUnits

_DIMENSION = 91
"""The lattice's first dimension for values: far from those for numbers of units."""

_FLAT_MISFIT, _STEEP_MISFIT = 0.1, 0.04
"""How far rungs are from being filled as is taken, in deviations of a unit; more so steep ones."""


class UnitValues(Struct, frozen=True, eq=False):
    """Draws of the mean value of a rung's units: (DRAWS, rungs).

    `typical` is what it is of many units; one unit alone is off by `deviation`, and n of them by
    1/√n of that, and by `misfit` of it however many they are.
    """

    typical: Floats
    deviation: Floats
    misfit: Floats
    edges: RungEdges

    def of(self, number: Floats) -> Floats:
        """Draws of the mean value of so many units."""
        off = np.sqrt(1 / np.maximum(number, 1.0) + self.misfit**2)
        drawn = self.typical + self.deviation * off
        return np.asarray(np.clip(drawn, self.edges.smallest, self.edges.largest))


def unit_values(units: RungUnits, edges: RungEdges) -> UnitValues:
    """Return what units contribute where so many are in the rungs."""
    # How fast units thin out over a rung is what they do from the one below to it, and half as much
    # more as that is more than one rung earlier: in a parabola's middle that is exact. Then the
    # logarithm y of value over low edge, from 0 to w, has a density ∝ e^(-s·y/w), and the mean of
    # e^y is (1 - e^-(s - w))/(s - w) : (1 - e^-s)/s.
    width = np.log(edges.high / edges.low)
    density = np.log((units.mean + 0.5) / width)
    falls = -np.diff(density, axis=1, prepend=density[:, :1])
    falls[:, :1] = falls[:, 1:2] if width.size > 1 else 0.0
    before = np.hstack([falls[:, :1], falls[:, :-1]])
    slope = np.clip(1.5 * falls - 0.5 * before, -20.0, 20.0)
    typical = edges.low * _decay(slope - width) / _decay(slope)
    room = edges.high - edges.low
    position = (typical - edges.low) / room
    # A uniform value's deviation is 0.29 of the room; where units thin out fast, the mean is it.
    deviation = room * 1.16 * position * (1 - position) * normals(_DIMENSION, room.size)
    misfit = _FLAT_MISFIT + _STEEP_MISFIT * np.abs(slope)
    return UnitValues(typical, deviation, misfit, edges)


def _decay(slope: Floats) -> Floats:
    """The mean of e^(-slope·u) over u from 0 to 1."""
    slope = np.where(np.abs(slope) < 1e-6, 1e-6, slope)
    return np.asarray(-np.expm1(-slope) / slope)
