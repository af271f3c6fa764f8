"""AIM, as a peer of synopses: whole margins are measured, chosen in rounds that are annealed.

(McKenna, Mullins, Sheldon & Miklau 2022, "AIM: An Adaptive and Iterative Mechanism for
Differentially Private Synthetic Data", Algorithm 4, with its constants, for the workload of all
keys together.) Its noise and choices are drawn by numpy, and rows are fitted by the same
multiplicative steps to a whole table, which is what its graphical model stands for: nothing here is
released. A unit that has more rows than one moves margins by what `HistogramSensitivity` says.
"""

from __future__ import annotations

import math
from itertools import chain, combinations

import numpy as np
from numpy.typing import NDArray

from dpsql.privacy.allocation.mwem_calibration import HistogramSensitivity
from dpsql.release.synopsis.cell_partition import Partition
from dpsql.release.synopsis.weight_fit import Estimates, Measured, fitted, total_rows

_ROUNDS_PER_KEY, _NOISE_SHARE, _STEPS, _LAST_STEPS = 16, 0.9, 100, 1_000


def margins(shape: tuple[int, ...]) -> list[Partition]:
    """The margins of a grid on each set of its axes but none, those of few axes first."""
    axes = range(len(shape))
    sets = chain.from_iterable(combinations(axes, size) for size in range(1, len(shape) + 1))
    return [Partition(shape, tuple(1 if a in s else shape[a] for a in axes)) for s in sets]


def aim(
    cells: NDArray[np.int64], moves: HistogramSensitivity, rho: float, chance: np.random.Generator
) -> Estimates:
    """Estimates of `cells` at a loss of `rho` of zCDP."""
    among, keys = margins(cells.shape), len(cells.shape)
    rounds = _ROUNDS_PER_KEY * keys
    per_round, measured = rho / rounds, list[Measured]()

    def measure(of: Partition, paid: float) -> None:
        variance = moves.l2_squared(of.merged) / (2 * paid)
        counts = of.sums(cells)
        noise = chance.normal(0, variance**0.5, counts.shape)
        measured.append(Measured(of, counts + noise, variance))

    for one in among[:keys]:
        measure(one, _NOISE_SHARE * per_round)
    left = rho - keys * _NOISE_SHARE * per_round
    start = np.full(cells.shape, total_rows(measured) / cells.size)
    weights = fitted(start, measured, _STEPS)
    while left > 1e-12 * rho:
        per_round = left if left <= 2 * per_round else per_round
        left -= per_round
        chosen = _choose(among, cells, weights, moves, per_round, chance)
        measure(chosen, _NOISE_SHARE * per_round)
        before = chosen.sums(weights)
        weights = fitted(weights, measured, _STEPS)
        noise = math.sqrt(2 / math.pi * measured[-1].variance)
        if np.abs(chosen.sums(weights) - before).sum() <= noise * chosen.boxes:
            per_round *= 4
    return fitted(weights, measured, _LAST_STEPS)


def _choose(
    among: list[Partition],
    cells: NDArray[np.int64],
    weights: Estimates,
    moves: HistogramSensitivity,
    paid: float,
    chance: np.random.Generator,
) -> Partition:
    """The margin that is chosen by the exponential mechanism, whose share of `paid` is ε²/8."""
    epsilon = math.sqrt(8 * (1 - _NOISE_SHARE) * paid)
    scores = []
    for one in among:
        variance = moves.l2_squared(one.merged) / (2 * _NOISE_SHARE * paid)
        noise = math.sqrt(2 / math.pi * variance) * one.boxes
        off = float(np.abs(one.sums(cells) - one.sums(weights)).sum())
        scores.append(one.sizes.count(1) * (off - noise))
    widest = len(cells.shape) * moves.l1
    gumbel = chance.gumbel(size=len(among))
    return among[int(np.argmax(epsilon / (2 * widest) * np.array(scores) + gumbel))]
