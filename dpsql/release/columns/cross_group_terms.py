"""What other groups add to a column becomes statistics of each group, with noise of its own.

tea 50, coffee 30, none 20   →   tea (50, others 50), coffee (30, others 70), none (20, others 80)

Of the groups that differ in one key alone each adds a draw that no other group's own value has, so
that a value's own noise and that of the others are independent.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from dpsql.plan.bounded_release.estimator import (
    CrossGroupSum,
    EstimatedColumn,
    Estimator,
    LinearEstimator,
    ResponseVariance,
)
from dpsql.privacy.mechanisms.noise.uniform_bits_in_cell import Integers
from dpsql.release.add_noise import NoisyGroups
from dpsql.release.columns.confidence_interval import Combined, NoiseSpread, half_width
from dpsql.release.columns.integer_arrays import of_list

StatisticIndex = tuple[int, int]
"""A key and a statistic: its sum over the groups that differ in this key alone."""


@dataclass(frozen=True, slots=True)
class LocalizedOutputs:
    """`outputs` that read one group alone, which has `added` statistics behind its own."""

    outputs: tuple[EstimatedColumn, ...]
    spreads: tuple[NoiseSpread, ...]
    added: tuple[StatisticIndex, ...]

    def add_statistics(self, groups: NoisyGroups) -> NoisyGroups:
        """`groups` with what was added; all cells of their keys are there."""
        if not self.added:
            return groups
        sums = tuple(_other_groups(groups, key, place) for key, place in self.added)
        return replace(groups, statistics=(*groups.statistics, *sums))


def localize(
    outputs: tuple[EstimatedColumn, ...], spreads: Sequence[NoiseSpread]
) -> LocalizedOutputs:
    """`outputs` over statistics with noise of these `spreads`, without a look at other groups."""
    read = {
        (others.key, place): others.groups
        for output in outputs
        for others in _read(output.estimator)
        for place, _ in others.summands
    }
    places = {each: len(spreads) + number for number, each in enumerate(read)}
    return LocalizedOutputs(
        tuple(
            replace(output, estimator=_localized(output.estimator, places)) for output in outputs
        ),
        (*spreads, *(_summed(spreads[place], groups) for (_, place), groups in read.items())),
        tuple(read),
    )


def _read(estimator: Estimator) -> list[CrossGroupSum]:
    """What it reads of other groups, and the number of rows by which its variance goes."""
    if not isinstance(estimator, LinearEstimator):
        return []
    own = [] if estimator.cross_group is None else [estimator.cross_group]
    return (
        own
        if estimator.response_variance is None
        else own + _read(estimator.response_variance.rows)
    )


def _localized(estimator: Estimator, indices: dict[StatisticIndex, int]) -> Estimator:
    return (
        _of_one_group(estimator, indices) if isinstance(estimator, LinearEstimator) else estimator
    )


def _of_one_group(
    estimator: LinearEstimator, indices: dict[StatisticIndex, int]
) -> LinearEstimator:
    said, others = estimator.response_variance, estimator.cross_group
    if said is not None:
        said = ResponseVariance(said.inside, said.outside, _of_one_group(said.rows, indices))
    if others is None:
        return replace(estimator, response_variance=said)
    added = tuple((indices[others.key, place], factor) for place, factor in others.summands)
    return replace(
        estimator, summands=(*estimator.summands, *added), response_variance=said, cross_group=None
    )


def _summed(noise: NoiseSpread, groups: int) -> Combined:
    """A sum of draws has no more standard deviations in its half-width than one of them has."""
    width = math.ceil(half_width(noise) * math.sqrt(groups))
    return Combined(groups * float(noise.variance), width)


def _other_groups(groups: NoisyGroups, key: int, index: int) -> Integers:
    """A statistic's sum over the groups that differ in this key alone, for each group."""
    rest = [column.to_pylist() for number, column in enumerate(groups.keys) if number != key]
    cells = list(zip(*rest, strict=True)) if rest else [()] * groups.count
    values: list[int] = groups.statistics[index].tolist()
    sums: defaultdict[tuple[object, ...], int] = defaultdict(int)
    for cell, value in zip(cells, values, strict=True):
        sums[cell] += value
    return of_list([sums[cell] - value for cell, value in zip(cells, values, strict=True)])
