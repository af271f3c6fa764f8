"""The position at which a part is split: one of its slices, chosen by the exponential mechanism.

Of all slices of all cells of a part, slice i is chosen with probability ∝ e^-(rate·loss(i)): one
choice, whose candidates may be millions. Few of them are looked at. A cell is proposed with a
probability ∝ (its slices)·e^-(rate·b), where b is a bound below their losses, and one of its
slices, each alike, is accepted with probability e^-(rate·(loss - b)); else all is drawn anew. So
slice i comes with a probability ∝ e^-(rate·b)·e^-(rate·(loss(i) - b)), whatever b is.
Slices of the cells where many would be turned down are proposed one by one, by their own losses:
which cells these are decides about time alone.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from dpsql.privacy.mechanisms.randomness import Randomness
from dpsql.privacy.mechanisms.selection.acceptance import accepted
from dpsql.privacy.mechanisms.selection.exp_enclosure import decays
from dpsql.privacy.mechanisms.selection.exponential import choose
from dpsql.privacy.mechanisms.selection.quantile_range import QuantileRange

_FINE = 2
"""Cells whose slices are proposed one by one: those to both sides of the quantile."""


def choose_position(
    part: QuantileRange, target: Fraction, rate: Fraction, randomness: Randomness
) -> NDArray[np.int64]:
    """Return a slice of each group's part, with probability ∝ e^-(rate·loss at its start)."""
    groups = part.counts.shape[0]
    chosen = np.empty(groups, dtype=np.int64)
    proposal = _Proposal.of(part, target, rate)
    waiting = np.arange(groups)
    while waiting.size:
        some = proposal.of_groups(waiting)
        positions, excess = some.draw(target, rate, randomness)
        done = accepted(excess, rate, randomness)
        chosen[waiting[done]] = positions[done]
        waiting = waiting[~done]
    return chosen


class _Proposal(Struct, frozen=True, eq=False):
    """Losses and weights of what is proposed: all cells, then the slices of the `fine` cells.

    `fine` has shape (groups, fine cells); the others (groups, cells + fine cells · slices). A cell
    whose slices are proposed has no weight of its own.
    """

    part: QuantileRange
    fine: NDArray[np.int64]
    losses: NDArray[np.int64]
    weights: NDArray[np.int64]

    @classmethod
    def of(cls, part: QuantileRange, target: Fraction, rate: Fraction) -> _Proposal:
        losses, weights = part.cell_losses(target), part.slices_in_cells()
        fine = _heavy_cells(part, losses, weights, target, rate)
        slices = [(part.slice_losses(c, target), part.slice_mask(c)) for c in fine.T]
        np.put_along_axis(weights, fine, 0, axis=1)
        return cls(
            part,
            fine,
            np.concatenate([losses, *(of_slices for of_slices, _ in slices)], axis=1),
            np.concatenate([weights, *(mask.astype(np.int64) for _, mask in slices)], axis=1),
        )

    def of_groups(self, groups: NDArray[np.intp]) -> _Proposal:
        return _Proposal(
            self.part.of_groups(groups),
            self.fine[groups],
            self.losses[groups],
            self.weights[groups],
        )

    def draw(
        self, target: Fraction, rate: Fraction, randomness: Randomness
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Draw a slice of each group, and how far its loss is above the one it was proposed by."""
        cells, slices = self.part.counts.shape[1], self.part.slices
        proposed = choose(self.losses, rate, randomness, self.weights)
        is_cell = proposed < cells
        index, inside = np.divmod(np.maximum(proposed - cells, 0), slices)
        own = np.take_along_axis(self.fine, index[:, None], axis=1)[:, 0]
        positions = own * slices + inside
        excess = np.zeros(proposed.size, dtype=np.int64)
        drawn = is_cell.nonzero()[0]
        if drawn.size:
            part, cell = self.part.of_groups(drawn), proposed[drawn]
            mask = part.slice_mask(cell)
            evenly = choose(np.zeros_like(mask, np.int64), rate, randomness, mask.astype(np.int64))
            positions[drawn] = cell * slices + evenly
            losses = part.slice_losses(cell, target)
            bounds = np.take_along_axis(self.losses[drawn], cell[:, None], axis=1)
            excess[drawn] = np.take_along_axis(losses - bounds, evenly[:, None], axis=1)[:, 0]
        return positions, excess


def _heavy_cells(
    part: QuantileRange,
    losses: NDArray[np.int64],
    weights: NDArray[np.int64],
    target: Fraction,
    rate: Fraction,
) -> NDArray[np.int64]:
    """The cells of which the most slices would be proposed and turned down, a few of each group."""
    nearest = np.where(weights > 0, losses, np.iinfo(np.int64).max).min(axis=1, keepdims=True)
    near = weights * decays((losses - nearest).clip(0), rate)
    steepness = float(rate * target.denominator) * part.counts * weights
    wasted = near * (1 - 1 / (1 + steepness))
    few = min(_FINE, losses.shape[1])
    heaviest: NDArray[np.int64] = np.argsort(-wasted, axis=1, kind="stable")[:, :few]
    return heaviest
