"""A histogram → estimates of its cells, by noisy measurements alone, in rounds.

Each round chooses the partition of the cells whose sums by the estimates differ most from those of
its rows, beyond the noise to come, and measures it. Then the estimates are fitted to all
measurements: of rows by multiplicative weights, of sums by least squares. A round that finds no
more than its noise would show is followed by one of less noise, which takes more of the loss
(McKenna, Mullins, Sheldon & Miklau 2022, "AIM"). What decides of rounds is computed from noisy
measurements alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from typing import Generic, TypeVar

import numpy as np
from msgspec import Struct

from dpsql.privacy.allocation.mwem_calibration import MwemParameters
from dpsql.privacy.mechanisms.noise.laplace import DiscreteLaplace
from dpsql.privacy.mechanisms.noise.noise import IndependentNoise
from dpsql.privacy.mechanisms.noise.uniform_bits_in_cell import Integers
from dpsql.privacy.mechanisms.randomness import Randomness
from dpsql.release.columns.integer_arrays import OUTSIDE_64_BITS, largest, rounded
from dpsql.release.synopsis.cell_partition import CellTable, Partition, partitions
from dpsql.release.synopsis.sum_fit import spread_sums
from dpsql.release.synopsis.weight_fit import (
    Estimates,
    Measured,
    fitted,
    measure,
    total_rows,
)

_STEPS, _LAST_STEPS = 40, 300
"""Steps of fitting after each round, and after the last one."""

_ANNEALED = 4
"""A round takes so many times the parts of one that found no more than noise."""

LARGEST_LOSS = 2**61
"""Losses of candidates are cut there: the exponential mechanism takes no larger ones."""

Cells = TypeVar("Cells", bound=Estimates | CellTable)

Fit = Callable[[Cells, Sequence[Measured], int], Cells]
"""Estimates are moved toward measurements, in at most so many steps."""


class Round(Struct, Generic[Cells], frozen=True):
    """What a round that took so many parts measured, and the estimates by which it chose that."""

    taken: int
    before: Cells
    measured: Measured


class Synopsis(Struct, Generic[Cells], frozen=True):
    """The estimates of a grid of cells, and all that they are fitted to: the sum of all first."""

    estimates: Cells
    measured: tuple[Measured, ...]
    rounds: tuple[Round[Cells], ...] = ()


def fit_weights(
    cells: Integers,
    parameters: MwemParameters,
    randomness: Randomness,
    unordered: Collection[int] = (),
) -> Synopsis[Estimates]:
    """The weights of a grid of exact counts, `cells`, from noisy measurements of it.

    Measuring costs the loss of `parameters`, without that of its sums. The weights have the shape
    of `cells`; the `unordered` axes of it are measured whole or cell by cell.
    """
    among = partitions(cells.shape, unordered)
    whole = Partition(cells.shape, cells.shape)
    first = measure(whole, cells, parameters.total, randomness)
    weights = np.full(cells.shape, total_rows([first]) / cells.size)
    return annealed(
        lambda _: among, cells, parameters, Synopsis(weights, (first,)), fitted, randomness
    )


def fit_sums(
    cells: Integers,
    parameters: MwemParameters,
    weights: Estimates,
    randomness: Randomness,
    unordered: Collection[int] = (),
) -> Synopsis[Estimates]:
    """Estimates of a grid of exact sums, `cells`, from noisy measurements of it.

    Before the first round they are as the `weights` of the rows: each row has the mean value.
    """
    whole = Partition(cells.shape, cells.shape)
    first = measure(whole, cells, parameters.total, randomness)

    def fit(_: Estimates, measured: Sequence[Measured], steps: int) -> Estimates:
        return spread_sums(weights, measured, steps)

    start = Synopsis(spread_sums(weights, [first], 0), (first,))
    among = partitions(cells.shape, unordered)
    return annealed(lambda _: among, cells, parameters, start, fit, randomness)


def annealed(
    candidates: Callable[[Sequence[Measured]], Sequence[Partition]],
    cells: Integers | CellTable,
    parameters: MwemParameters,
    start: Synopsis[Cells],
    fit: Fit[Cells],
    randomness: Randomness,
) -> Synopsis[Cells]:
    """`start` after all rounds, which take the parts of `parameters` between them.

    Each chooses one of the `candidates` that there are after what was measured.
    """
    estimates, measured = start.estimates, list(start.measured)
    rounds = list[Round[Cells]]()
    left, taken = parameters.parts, 1
    while left and (among := candidates(measured)):
        # What is left after the last round would be too little for another.
        taken = taken if left >= 2 * taken else left
        left -= taken
        chosen = _choose(among, cells, estimates, parameters, taken, randomness)
        noise = parameters.noise(taken, chosen.merged)
        measured.append(measure(chosen, cells, noise, randomness))
        rounds.append(Round(taken, estimates, measured[-1]))
        before = chosen.sums(estimates)
        estimates = fit(estimates, measured, _STEPS if left else _LAST_STEPS)
        moved = float(np.abs(chosen.sums(estimates) - before).sum())
        if moved <= chosen.boxes * _deviation(noise):
            taken *= _ANNEALED
    return Synopsis(estimates, tuple(measured), tuple(rounds))


def _choose(
    candidates: Sequence[Partition],
    cells: Integers | CellTable,
    estimates: Estimates | CellTable,
    parameters: MwemParameters,
    taken: int,
    randomness: Randomness,
) -> Partition:
    """Choose privately a partition whose sums are far from the estimates', beyond their noise.

    The round takes so many parts of the loss. A score is Σ|estimates' - rows'| less what noise
    adds, in whole rows or steps: it moves by `l1` at most, since the estimates and the noise's size
    are the same whatever the rows are. Cutting a loss moves it no farther.
    """
    losses = []
    deviations = {
        merged: _deviation(parameters.noise(taken, merged))
        for merged in {one.merged for one in candidates}
    }
    for one in candidates:
        farness = _distance(rounded(one.sums(estimates)), one.sums(cells))
        losses.append(max(_penalty(one, deviations[one.merged]) - farness, -LARGEST_LOSS))
    (chosen,) = parameters.choice(taken).choose(losses, randomness)
    return candidates[int(chosen)]


def penalty(parameters: MwemParameters, partition: Partition, taken: int) -> int:
    """What noise will add to the differences of a partition in a round of so many parts."""
    return _penalty(partition, _deviation(parameters.noise(taken, partition.merged)))


def _penalty(partition: Partition, deviation: float) -> int:
    return math.floor(min(partition.boxes * deviation, 2.0**60))


def _distance(left: Integers, right: Integers) -> int:
    """Σ|left - right|, exactly."""
    if (largest(left) + largest(right)) * left.size >= OUTSIDE_64_BITS:
        left = left.astype(object)
    return int(np.abs(left - right).sum())


def _deviation(noise: IndependentNoise) -> float:
    """The mean absolute value of the noise."""
    spread = math.sqrt(float(noise.variance))
    is_laplace = isinstance(noise, DiscreteLaplace)
    return spread * (0.5**0.5 if is_laplace else math.sqrt(2 / math.pi))
