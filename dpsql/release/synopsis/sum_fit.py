"""Sums of a grid of cells that are fitted to noisy sums of its partitions, by these alone.

Before anything of them is known, each row has the mean value, and what cells deviate from that is
as large as their rows' values are apart: v = v0 + √w·z, for weights w of the rows and z of variance
τ². The estimate is the mean of that law, given what was measured: of
    Σ_j ‖S_j·v - y_j‖²/σ_j² + ‖z‖²/τ²
the least, for y_j the noisy sums of partition j and S_j·v those of the cells. That is linear in
what was measured, and has no sign to keep. (Generalised least squares, of margins of blocks as
Mullins, Fuentes, Xiao, Kifer, Musco & Sheldon 2024, "Efficient and Private Marginal Reconstruction
with Local Non-Negativity", have it of margins; with the prior of Robinson 1991, "That BLUP is a
Good Thing".) τ² is what measured sums deviate beyond their noise: where that is nothing, noise
moves no cell.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpsql.release.synopsis.weight_fit import Estimates, Measured, whole_sum

_FEWEST_ROWS = 1e-3
"""A cell counts for so many rows at least, of the mean cell's."""


def spread_sums(weights: Estimates, measured: Sequence[Measured], steps: int) -> Estimates:
    """The sums that agree best with all `measured` ones, in at most so many steps.

    By conjugate gradients on the normal equations (Hestenes & Stiefel 1952), from z = 0.
    """
    rows = np.maximum(weights, float(weights.mean()) * _FEWEST_ROWS)
    even = rows * (whole_sum(measured) / float(rows.sum()))
    missed = [(one.counts - one.partition.sums(even)) / one.variance**0.5 for one in measured]
    excess = _variance_of_all(missed, measured)
    if excess <= 0:
        return even
    # Times τ, so that z's variance is 1.
    root = np.sqrt(rows * (excess / float(rows.sum())))
    cells = np.zeros(rows.shape)
    slope = root * _spread(missed, measured)
    along, steepness = slope, float(np.square(slope).sum())
    enough = steepness * 1e-20
    for _ in range(steps):
        if steepness <= enough:
            break
        seen = [one.partition.sums(root * along) / one.variance**0.5 for one in measured]
        bend = float(np.square(along).sum()) + sum(float(np.square(one).sum()) for one in seen)
        length = steepness / bend
        cells += length * along
        missed = [m - length * s for m, s in zip(missed, seen, strict=True)]
        slope = root * _spread(missed, measured) - cells
        before, steepness = steepness, float(np.square(slope).sum())
        along = slope + (steepness / before) * along
    return even + root * cells


def _variance_of_all(missed: Sequence[Estimates], measured: Sequence[Measured]) -> float:
    """τ² times the number of rows: by how much the squares of what is missed pass their noise's.

    The boxes of a partition have all rows between them, so that of partition j it adds τ²·n/σ_j².
    """
    beyond = sum(float(np.square(one).sum()) - one.size for one in missed)
    return beyond / sum(1 / one.variance for one in measured)


def _spread(missed: Sequence[Estimates], measured: Sequence[Measured]) -> Estimates:
    """What each cell's boxes miss together, each by the precision of its noise."""
    parts = zip(measured, missed, strict=True)
    first, *others = (one.partition.spread(m / one.variance**0.5) for one, m in parts)
    return sum(others, first)
