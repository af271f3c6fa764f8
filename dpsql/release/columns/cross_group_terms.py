"""Sums over other groups become statistics of each group, with noise of their own.

tea 50, coffee 30, none 20   →   tea (50, others 50), coffee (30, others 70), none (20, others 80)

Each of the groups that differ in one key alone adds a draw of noise to the sum. None of these draws
is in the group's own value, so that the noise of the value and that of the others' sum are
independent.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

from msgspec import Struct

from dpsql.plan.bounded_release.estimator import (
    CrossGroupSum,
    EstimatedColumn,
    Estimator,
    LinearEstimator,
    RowVariance,
)
from dpsql.privacy.mechanisms.noise.uniform_bits_in_cell import Integers
from dpsql.release.add_noise import NoisyGroups
from dpsql.release.columns.confidence_interval import Combined, NoiseSpread, half_width
from dpsql.release.columns.integer_arrays import of_list
from dpsql.structs import replace

StatisticIndex = tuple[int, int]
"""A key and a statistic, which is summed over the groups that differ in this key alone."""


class LocalizedOutputs(Struct, frozen=True):
    """Outputs that read one group alone, whose statistics include sums over other groups.

    `added` are these sums, which follow the group's own statistics; `spreads` is the noise of all
    statistics.
    """

    outputs: tuple[EstimatedColumn, ...]
    spreads: tuple[NoiseSpread, ...]
    added: tuple[StatisticIndex, ...]

    def add_statistics(self, groups: NoisyGroups) -> NoisyGroups:
        """Append the `added` sums to the statistics of `groups`, in which no cell is missing."""
        if not self.added:
            return groups
        sums = tuple(_other_groups(groups, key, index) for key, index in self.added)
        return replace(groups, statistics=(*groups.statistics, *sums))


def localize(
    outputs: tuple[EstimatedColumn, ...], spreads: Sequence[NoiseSpread]
) -> LocalizedOutputs:
    """Make `outputs` read one group alone: sums over other groups become statistics of their own.

    `spreads` is the noise of each statistic.
    """
    read = {
        (others.key, index): others.groups
        for output in outputs
        for others in _read(output.estimator)
        for index, _ in others.summands
    }
    if not read:
        return LocalizedOutputs(outputs, tuple(spreads), ())
    indices = {each: len(spreads) + number for number, each in enumerate(read)}
    return LocalizedOutputs(
        tuple(
            replace(output, estimator=_localized(output.estimator, indices)) for output in outputs
        ),
        (*spreads, *(_summed(spreads[index], groups) for (_, index), groups in read.items())),
        tuple(read),
    )


def _read(estimator: Estimator) -> list[CrossGroupSum]:
    """The sums over other groups that `estimator` reads, also for its response variance."""
    if not isinstance(estimator, LinearEstimator):
        return []
    own = [] if estimator.cross_group is None else [estimator.cross_group]
    return own if estimator.row_variance is None else own + _read(estimator.row_variance.rows)


def _localized(estimator: Estimator, indices: dict[StatisticIndex, int]) -> Estimator:
    """`estimator` with the statistics at `indices` for its sums over other groups."""
    return (
        _of_one_group(estimator, indices) if isinstance(estimator, LinearEstimator) else estimator
    )


def _of_one_group(
    estimator: LinearEstimator, indices: dict[StatisticIndex, int]
) -> LinearEstimator:
    response, others = estimator.row_variance, estimator.cross_group
    if response is not None:
        response = RowVariance(
            response.inside, response.outside, _of_one_group(response.rows, indices)
        )
    if others is None:
        return replace(estimator, row_variance=response)
    added = tuple((indices[others.key, index], factor) for index, factor in others.summands)
    return replace(
        estimator,
        summands=(*estimator.summands, *added),
        row_variance=response,
        cross_group=None,
    )


def _summed(noise: NoiseSpread, groups: int) -> Combined:
    """The noise of a sum of `groups` draws.

    A sum's half-width has no more standard deviations than that of one draw.
    """
    width = math.ceil(half_width(noise) * math.sqrt(groups))
    return Combined(groups * float(noise.variance), width)


def _other_groups(groups: NoisyGroups, key: int, index: int) -> Integers:
    """For each group, a statistic's sum over the other groups that differ in this key alone."""
    rest = [column.to_pylist() for number, column in enumerate(groups.keys) if number != key]
    cells = list(zip(*rest, strict=True)) if rest else [()] * groups.count
    values: list[int] = groups.statistics[index].tolist()
    sums: defaultdict[tuple[object, ...], int] = defaultdict(int)
    for cell, value in zip(cells, values, strict=True):
        sums[cell] += value
    return of_list([sums[cell] - value for cell, value in zip(cells, values, strict=True)])
