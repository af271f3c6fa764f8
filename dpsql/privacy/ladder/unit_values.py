"""What the units of a rung contribute on average: rungs are wide, and not evenly filled."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpsql.privacy.ladder.lattice import Floats, normals
from dpsql.privacy.ladder.rung_units import RungEdges, RungUnits

_DIMENSION = 91
"""The lattice's first dimension for values: far from those for numbers of units."""


@dataclass(frozen=True, slots=True, eq=False)
class UnitValues:
    """Draws of the mean value of a rung's units: (DRAWS, rungs).

    `typical` is what it is of many units; one unit alone is off by `deviation`, and n of them by
    1/√n of that.
    """

    typical: Floats
    deviation: Floats
    edges: RungEdges

    def of(self, number: Floats) -> Floats:
        """Draws of the mean value of so many units."""
        drawn = self.typical + self.deviation / np.sqrt(np.maximum(number, 1.0))
        return np.asarray(np.clip(drawn, self.edges.smallest, self.edges.largest))


def unit_values(units: RungUnits, edges: RungEdges) -> UnitValues:
    """Return what units contribute where so many are in the rungs."""
    # Within a rung units thin out as from the rung below to the one above. The logarithm y of value
    # over low edge, from 0 to w, has a density ∝ e^(-s·y/w), so that e^y has the mean
    #     (1 - e^-(s - w))/(s - w) : (1 - e^-s)/s.
    width = np.log(edges.high / edges.low)
    around = np.pad(units.mean, ((0, 0), (1, 1))) + 0.5
    around[:, 0] = around[:, 1]
    slope = np.clip(np.log(around[:, :-2] / around[:, 2:]) / 2, -5.0, 5.0)
    typical = edges.low * _decay(slope - width) / _decay(slope)
    room = edges.high - edges.low
    position = (typical - edges.low) / room
    # A uniform value's deviation is 0.29 of the room; where units thin out fast, the mean is it.
    deviation = room * 1.16 * position * (1 - position) * normals(_DIMENSION, room.size)
    return UnitValues(typical, deviation, edges)


def _decay(slope: Floats) -> Floats:
    """The mean of e^(-slope·u) over u from 0 to 1."""
    slope = np.where(np.abs(slope) < 1e-6, 1e-6, slope)
    return np.asarray(-np.expm1(-slope) / slope)
