"""The most even counts that agree with some margins, by iterative proportional fitting."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dpsql.release.synopsis.factored.margin_choice import Axes
from dpsql.release.synopsis.weight_fit import Estimates

_SWEEPS = 30
"""At most so many times all margins are fitted."""

_ENOUGH = 1e-6
"""Where a sweep moves no more than this share of the rows, it is the last."""


def raked(shape: tuple[int, ...], margins: Mapping[Axes, Estimates]) -> Estimates:
    """Counts of `shape` that agree with `margins`, by their axes; of these the counts aren't < 0.

    From equal counts each margin is met in turn, by multiplying cells (Deming & Stephan 1940):
    where some counts agree with all, those of the greatest entropy are found (Csiszár 1975). Of
    margins over a, b and over b, c they are independent of each other given b. Where none agree
    with all, the last margin is met.
    """
    counts = np.ones(shape)
    for _ in range(_SWEEPS):
        before = counts
        for axes, margin in margins.items():
            others = tuple(axis for axis in range(len(shape)) if axis not in axes)
            wanted = np.expand_dims(margin, others)
            sums = counts.sum(axis=others, keepdims=True)
            counts = counts * np.divide(wanted, sums, out=np.zeros(sums.shape), where=sums > 0)
        if float(np.abs(counts - before).sum()) <= _ENOUGH * float(counts.sum()):
            break
    return counts
