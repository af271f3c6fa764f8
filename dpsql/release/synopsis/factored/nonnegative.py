"""A margin near another one, without counts below zero, whose sums stay what they are."""

from __future__ import annotations

import numpy as np

from dpsql.release.synopsis.weight_fit import Estimates

_STEPS = 60
"""At most so many projections to either set: then a count may be a little below zero."""

_ENOUGH = 1e-3
"""A count that is so little below zero is none."""


def nonnegative(margin: Estimates) -> Estimates:
    """The counts nearest to `margin`, none below zero, with the sums of `margin` along each axis.

    By Dykstra's projections (Boyle & Dykstra 1986) to the counts that aren't below zero, and to
    those of the same sums, in turn. Where the sums themselves are below zero there are none: what
    the last step has is of the same sums then. Of one cell, it is the cell, or 0.
    """
    if not margin.ndim:
        return np.maximum(margin, 0.0)
    sums = margin - interaction(margin)
    counts, passed = margin, np.zeros(margin.shape)
    for _ in range(_STEPS):
        if float(counts.min()) >= -_ENOUGH:
            break
        moved = counts + passed
        lifted = np.maximum(moved, 0.0)
        passed = moved - lifted
        counts = sums + interaction(lifted)
    return counts


def interaction(margin: Estimates) -> Estimates:
    """What `margin` has beyond its sums along its axes: of a margin over A, its residual P_A·M."""
    for axis in range(margin.ndim):
        margin = margin - margin.mean(axis=axis, keepdims=True)
    return margin
