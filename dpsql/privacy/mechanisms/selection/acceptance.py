"""Which of many losses are accepted, each with probability e^-(rate·loss), exactly."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpsql.privacy.mechanisms.randomness import Randomness, words
from dpsql.privacy.mechanisms.selection.bernoulli_exp import bernoulli_exp_exact
from dpsql.privacy.mechanisms.selection.exp_enclosure import decays


def accepted(
    losses: NDArray[np.int64], rate: Fraction, randomness: Randomness
) -> NDArray[np.bool_]:
    """Say yes to each of `losses` with probability e^-(rate·loss), independently.

    Losses are from 0 to below 2^62, of any shape.
    """
    # U lies in [u, u + 1]/2^52, and the computed e^-g is off by 2^-43 at most.
    prefixes = words(randomness, losses.size, 64).reshape(losses.shape)
    distance = decays(losses, rate) - (prefixes >> np.uint64(12)) * 2.0**-52
    taken: NDArray[np.bool_] = distance > 2.0**-42
    for cell in np.argwhere(np.abs(distance) <= 2.0**-42):
        at = tuple(cell.tolist())
        taken[at] = bernoulli_exp_exact(int(prefixes[at]), 64, rate * int(losses[at]), randomness)
    return taken
