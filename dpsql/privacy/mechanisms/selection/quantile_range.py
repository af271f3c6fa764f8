"""A part of each group, from one position to another, and the losses of positions in it.

Rows lie evenly in their cells: a cell is `slices` slices, each with as many slice-rows as the cell
has rows. Positions are slices from the first cell's start; losses are in slice-rows.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from dpsql.privacy.mechanisms.selection.candidates import LIMIT


class QuantileRange(Struct, frozen=True, eq=False):
    """The slices from `low` to `high` of each group; counts have shape (groups, cells)."""

    counts: NDArray[np.int64]
    slices: int
    low: NDArray[np.int64]
    high: NDArray[np.int64]

    def cell_mask(self) -> NDArray[np.bool_]:
        """Tell which cells have a slice in the part, or touch the part if it is empty."""
        # Both ends were chosen before, and are public.
        present = self._overlap() > 0
        empty = (self.low == self.high).nonzero()[0]
        present[empty, self._touched()[empty]] = True
        return present

    def cell_losses(self, target: Fraction) -> NDArray[np.int64]:
        """Return |(d - a)·below - a·above| at each cell's best position, for the target a/d."""
        inside = self.counts * self._overlap()
        until = inside.cumsum(axis=1)
        below, above = until - inside, until[:, -1:] - until
        # At the cell's start all it has is above, at its end below; between, the loss may be 0.
        at_start = _signed(below, above + inside, target)
        at_end = _signed(until, above, target)
        return np.maximum(np.maximum(at_start, -at_end), 0)

    def slice_mask(self, cells: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Tell which slices of each group's cell are in the part; of an empty one, where it is."""
        positions = self._positions(cells)
        high = np.maximum(self.high, self.low + 1)[:, None]
        present: NDArray[np.bool_] = (positions >= self.low[:, None]) & (positions < high)
        return present

    def slice_losses(self, cells: NDArray[np.int64], target: Fraction) -> NDArray[np.int64]:
        """Return |(d - a)·below - a·above| at the start of each slice of each group's cell."""
        positions = self._positions(cells)
        at = cells[:, None]
        inside = self.counts * self._overlap()
        until = np.take_along_axis(inside.cumsum(axis=1), at, axis=1)
        here = np.take_along_axis(inside, at, axis=1)
        density = np.take_along_axis(self.counts, at, axis=1)
        start = np.maximum(self.low[:, None], at * self.slices)
        below = until - here + (positions - start).clip(0) * density
        above = inside.sum(axis=1, keepdims=True) - below
        losses: NDArray[np.int64] = np.abs(_signed(below, above, target))
        return losses

    def slices_in_cells(self) -> NDArray[np.int64]:
        """Count each cell's slices in the part; 1 in the cell that an empty part touches."""
        return np.maximum(self._overlap(), self.cell_mask())

    def of_groups(self, groups: NDArray[np.intp]) -> QuantileRange:
        """The parts of some of the groups."""
        return QuantileRange(self.counts[groups], self.slices, self.low[groups], self.high[groups])

    def _positions(self, cells: NDArray[np.int64]) -> NDArray[np.int64]:
        positions: NDArray[np.int64] = cells[:, None] * self.slices + np.arange(self.slices)
        return positions

    def _touched(self) -> NDArray[np.int64]:
        touched: NDArray[np.int64] = np.minimum(self.low // self.slices, self.counts.shape[1] - 1)
        return touched

    def _overlap(self) -> NDArray[np.int64]:
        """Count each cell's slices in the part."""
        starts = np.arange(self.counts.shape[1]) * self.slices
        overlap: NDArray[np.int64] = (self.high[:, None] - starts).clip(0, self.slices) - (
            self.low[:, None] - starts
        ).clip(0, self.slices)
        return overlap


def _signed(
    below: NDArray[np.int64], above: NDArray[np.int64], target: Fraction
) -> NDArray[np.int64]:
    # Clamped, they move no further than they did, and the products stay below 2^61.
    a, d = target.numerator, target.denominator
    max_rows = LIMIT // (2 * d)
    signed: NDArray[np.int64] = (d - a) * below.clip(0, max_rows) - a * above.clip(0, max_rows)
    return signed
