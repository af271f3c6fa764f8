"""Estimates of a grid of cells that are fitted to noisy sums of its partitions, by these alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from dpsql.privacy.mechanisms.noise.noise import IndependentNoise
from dpsql.privacy.mechanisms.noise.uniform_bits_in_cell import Integers
from dpsql.privacy.mechanisms.randomness import Randomness
from dpsql.release.synopsis.cell_partition import CellTable, Partition

Estimates = NDArray[np.float64]


class Measured(Struct, frozen=True):
    """A partition's noisy counts or sums, and the variance of the noise of each of them."""

    partition: Partition
    counts: Estimates
    variance: float


def measure(
    partition: Partition,
    cells: Integers | CellTable,
    noise: IndependentNoise,
    randomness: Randomness,
) -> Measured:
    """Measure the counts of `cells` in each box of `partition`, with `noise` on each."""
    exact = partition.sums(cells)
    noisy = noise.release_vector(exact.ravel(), randomness).reshape(exact.shape)
    return Measured(partition, noisy.astype(np.float64), float(noise.variance))


def total_rows(measured: Sequence[Measured]) -> float:
    """The number of rows by all measurements, which is 1 at least."""
    return min(max(whole_sum(measured), 1.0), 2.0**50)


def whole_sum(measured: Sequence[Measured]) -> float:
    """The sum of all cells by all measurements: each has one, with noise of its own."""
    precisions = [1 / (one.variance * one.partition.boxes) for one in measured]
    sums = [float(one.counts.sum()) for one in measured]
    return sum(p * s for p, s in zip(precisions, sums, strict=True)) / sum(precisions)


def fitted(weights: Estimates, measured: Sequence[Measured], steps: int) -> Estimates:
    """The weights after multiplicative steps toward values that make the measurements likelier.

    Each step multiplies a cell by e to minus the slope of the squared errors there, and scales all
    cells to the number of rows. With steps as long as the errors fall, that is mirror descent by
    relative entropy, so cells that no measurement tells apart keep their proportions.
    """
    total = total_rows(measured)
    weights = weights * (total / float(weights.sum()))
    missed = _missed(weights, measured)
    step, error = 1.0, _error(missed, measured)
    for _ in range(steps):
        slope = np.zeros(weights.shape)
        for one, off in zip(measured, missed, strict=True):
            slope += one.partition.spread(off) / one.variance
        slope /= max(float(np.abs(slope).max()), 1e-300)
        while step > 1e-9:
            moved = weights * np.exp(-step * slope)
            moved *= total / float(moved.sum())
            moved_missed = _missed(moved, measured)
            moved_error = _error(moved_missed, measured)
            if moved_error < error:
                weights, missed, error = moved, moved_missed, moved_error
                step = min(1.5 * step, 16.0)
                break
            step /= 2
        else:
            break
    return weights


def _missed(weights: Estimates, measured: Sequence[Measured]) -> list[Estimates]:
    """What the weights' counts are beyond each of the measured ones."""
    return [one.partition.sums(weights) - one.counts for one in measured]


def _error(missed: Sequence[Estimates], measured: Sequence[Measured]) -> float:
    """The squared errors of the weights' counts, each over the variance of its noise."""
    return sum(
        float(np.square(off).sum()) / one.variance
        for one, off in zip(measured, missed, strict=True)
    )
