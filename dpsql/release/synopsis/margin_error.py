"""How far noise moves the sums of a synopsis over margins that were measured.

A measured partition that leaves some keys whole has the sum of all cells with one value of each of
these as a sum of its boxes' noisy counts: unbiased, whatever the rows are. Measurements' noise is
independent, so that of their averages the one by precisions has the least variance,
    1/Σ_j 1/(b_j·σ_j²),         b_j boxes of partition j with noise of variance σ_j² each
(McKenna, Mullins, Sheldon & Miklau 2022, Section 5). Weights are fitted to the same counts and
more, by least squares over counts that aren't below zero: by Gauss and Markov their error is no
larger where no weight is held at zero, and nearer to the rows where one is. What a round measures
follows of earlier noise, so this is nearly the law and not quite: tests count how often it holds.

Of a margin that no partition leaves whole there is no unbiased estimate: how its rows lie within
boxes is a guess that noise says nothing of. What is told of it is a bound by what the rounds chose
(`margin_bound`), of which the counts of keys that stand in no candidate have none.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Sequence
from typing import Final

from msgspec import Struct

from dpsql.release.synopsis.cell_partition import Partition, Shape
from dpsql.release.synopsis.margin_bound import MarginBound
from dpsql.release.synopsis.weight_fit import Measured

SYNOPSIS_NOISE: Final = "noisy margins, chosen in rounds"
"""The mechanism's name in reports."""

BOUNDED_NOISE: Final = "bounded by what the rounds chose, no more than that with 95 %"
"""The mechanism's name where no round measured what is summed."""

MEASURED: Final = "measured"
"""The column of a synopsis' table, beside its own, that says what was measured."""


class MeasuredNoise(Struct, frozen=True):
    """The noise of a synopsis: of each measured partition, its counts' variance.

    `half_widths` standard deviations are a 95 % half-width. `bounds` are of margins, measured or
    not: all of them hold together with 95 %.
    """

    measured: tuple[tuple[Partition, float], ...]
    half_widths: float
    bounds: tuple[MarginBound, ...] = ()

    def bound(self, single: Collection[int], several: Collection[int] = ()) -> int | None:
        """How far off the sum over cells with one value along the `single` axes is at most.

        Of all such cells, or of those with some values along `several` others.
        """
        shape = self.measured[0][0].shape
        axes = {axis for axis in (*single, *several) if shape[axis] > 1}
        of_sums = [one.of_sum for one in self.bounds if axes <= {*one.axes}]
        known = [bound for bound in of_sums if bound is not None]
        if not any(shape[axis] > 1 for axis in several):
            known += [one.of_count for one in self.bounds if axes == {*one.axes}]
        return min(known, default=None)

    def variance(self, single: Collection[int]) -> float | None:
        """The variance of the sum over all cells with one value along each of the `single` axes.

        None where no measured partition tells these values apart.
        """
        precisions = [
            1 / (variance * _merged_boxes(partition, single))
            for partition, variance in self.measured
            if all(partition.sizes[axis] == 1 or partition.shape[axis] == 1 for axis in single)
        ]
        return 1 / sum(precisions) if precisions else None


def _merged_boxes(partition: Partition, single: Collection[int]) -> int:
    """Of how many boxes of `partition` the sum over other axes than `single` is the sum."""
    axes = enumerate(zip(partition.shape, partition.sizes, strict=True))
    return math.prod(-(-n // size) for axis, (n, size) in axes if axis not in single)


def encode_measured(
    statistics: Sequence[Sequence[Measured]], bounds: Sequence[Sequence[MarginBound]] = ()
) -> str:
    """What was measured of each statistic, as text: of each partition its sizes and its variance.

    With the bounds of each, if there are any: earlier versions wrote none.
    """
    each = [[[one.partition.sizes, one.variance] for one in measured] for measured in statistics]
    fields = {"statistics": each} | ({"bounds": encode_bounds(bounds)} if bounds else {})
    return json.dumps(fields)


def decode_measured(text: str, shape: Shape, half_widths: float) -> tuple[MeasuredNoise, ...]:
    """What `encode_measured` wrote, of a grid of `shape`: the noise of each statistic.

    Of rows alone earlier versions wrote a bare list.
    """
    written = json.loads(text)
    fields = written if isinstance(written, dict) else {"statistics": [written]}
    each = fields["statistics"]
    bounds = decode_bounds(fields.get("bounds", [[]] * len(each)))
    return tuple(
        MeasuredNoise(
            tuple((Partition(shape, tuple(sizes)), variance) for sizes, variance in measured),
            half_widths,
            of,
        )
        for measured, of in zip(each, bounds, strict=True)
    )


def encode_bounds(bounds: Sequence[Sequence[MarginBound]]) -> list[list[list[object]]]:
    """The bounds of each statistic for JSON."""
    return [[[one.axes, one.of_count, one.of_sum] for one in of] for of in bounds]


def decode_bounds(
    written: Sequence[Sequence[tuple[Sequence[int], int, int | None]]],
) -> list[tuple[MarginBound, ...]]:
    """What `encode_bounds` wrote."""
    return [
        tuple(MarginBound(tuple(axes), of_count, of_sum) for axes, of_count, of_sum in of)
        for of in written
    ]
