"""The part of all pairs of units and groups that limits of groups leave out.

Where units are in n groups, and g may count, drawing keeps g of the pairs. Scaling keeps each in
part, so that their norm is that of g full groups: of pairs as full as can be √(g·n) in the L2 norm,
and g in the L1 norm; of others as many more as the mean of their squares, or of themselves, is less
than that of full ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from dpsql.privacy.ladder.cap_choice import bounded_total
from dpsql.privacy.ladder.excess_draws import ExcessDraws
from dpsql.privacy.ladder.lattice import Floats


def lost_by_drawing(draws: ExcessDraws, limits: Sequence[int], highest: Fraction | None) -> Floats:
    """Return the part of the pairs within `highest` groups that is left out: (draws, limits)."""
    beyond = np.stack([draws.at(float(limit)) for limit in limits], axis=1)
    return _part(beyond, draws, highest)


def lost_by_scaling(
    draws: ExcessDraws, filled: Floats, order: int, highest: Fraction | None
) -> Floats:
    """Return the same where units count in parts: (draws, limits, caps).

    `filled` is in how many groups of typical pairs a unit has the norm that limits allow: a limit
    times `fullness` of a cap, for each limit and cap.
    """
    if order == 1:
        beyond = np.stack([draws.at(float(each)) for each in filled.ravel()], axis=1)
    else:
        # What a unit of n groups loses, n - √(f·n) beyond f, is taken for straight between rungs,
        # where it is no more: a sum of what is beyond each rung, with its slopes' differences.
        rungs = draws.caps
        lost = np.maximum(rungs - np.sqrt(filled.reshape(-1, 1) * rungs), 0.0)
        slopes = np.diff(lost, axis=1) / np.diff(rungs)
        turns = np.diff(slopes, axis=1, prepend=0.0)
        beyond = draws.beyond[:, :-1] @ turns.T
    return _part(beyond, draws, highest).reshape(-1, *filled.shape)


def fullness(pairs: ExcessDraws, caps: Sequence[Fraction], order: int) -> Floats:
    """Return how many typical pairs have the norm of one that is as full as each cap allows."""
    rungs, beyond = pairs.caps, pairs.beyond.mean(axis=0)
    ratios = []
    for cap in map(float, caps):
        ends = np.append(rungs[rungs < cap], cap)
        sums = -np.diff([*beyond[rungs < cap], float(pairs.at(cap).mean())])
        # ∑ min(v, c)² is 2·∫ t·N(v > t) dt up to c, and N is minus the slope of what is beyond.
        moments = sums if order == 1 else sums * (ends[1:] + ends[:-1])
        mean = float(moments.sum()) / max(pairs.units, 1.0)
        ratios.append(max(1.0, cap**order / mean) if mean > 0 else 1.0)
    return np.array(ratios)


def _part(beyond: Floats, draws: ExcessDraws, highest: Fraction | None) -> Floats:
    pairs = bounded_total(draws, highest)[:, None]
    left_out = np.maximum(beyond - (draws.total[:, None] - pairs), 0.0)
    return np.asarray(np.minimum(left_out / np.maximum(pairs, 1e-300), 1.0))
