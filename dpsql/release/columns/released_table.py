"""Noisy integers → typed columns: postprocessing, exact until the last rounding.

A mean, a variance, or a quantile with a count of rows is NULL where noise alone may have made that
count: as for no rows in SQL. The interval of such a mean is that of all values in its bounds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from dpsql.plan.aggregate import OutputKind
from dpsql.plan.bounded_release.bounded_release import BoundedRelease
from dpsql.plan.bounded_release.estimator import (
    DividedSum,
    EstimatedColumn,
    Estimator,
    LinearEstimator,
    row_count_index,
    statistic_indices,
)
from dpsql.privacy.mechanisms.noise.uniform_bits_in_cell import Integers
from dpsql.release.add_noise import NoisyGroups
from dpsql.release.calibration import Measurement
from dpsql.release.columns.arrow import arrow_array
from dpsql.release.columns.confidence_interval import (
    Error,
    NoiseSpread,
    error_interval,
    half_width,
    select_part,
)
from dpsql.release.columns.cross_group_terms import localize
from dpsql.release.columns.estimate import evaluate
from dpsql.release.columns.estimate_vectorized import whole_column
from dpsql.release.columns.integer_arrays import numbers, of_column
from dpsql.release.columns.null_values import null_outside
from dpsql.schema.sql_type import HUGEINT, Integer


def columns(bounded: BoundedRelease, groups: NoisyGroups, measurement: Measurement) -> pa.Table:
    """The released table: c<id> for each key and aggregate, s<index> for auxiliary statistics."""
    arrays: dict[str, pa.Array] = {}
    for key, values in zip(bounded.contributions.keys, groups.keys, strict=True):
        arrays[f"c{key.column.id}"] = values
    localized = localize(bounded.outputs, measurement.mechanisms)
    arrays |= _output_columns(
        localized.outputs, localized.add_statistics(groups), localized.spreads
    )
    for index in auxiliary_statistics(bounded):
        arrays[f"s{index}"] = _integers(groups.statistics[index])
    if not arrays:
        return pa.table({"nothing": pa.array([1] * groups.count, pa.int32())})
    return pa.table(arrays)


def auxiliary_statistics(bounded: BoundedRelease) -> tuple[int, ...]:
    """The indices of noisy statistics that columns are computed of, and that none shows as it is.

    They are stored with the columns, so that errors of means can be told, and sums and means made
    to add up later.
    """
    indices = {index for output in bounded.outputs for index in statistic_indices(output.estimator)}
    return tuple(sorted(indices - {_plain(output) for output in bounded.outputs}))


def noisy_statistics(bounded: BoundedRelease, table: pa.Table) -> dict[int, Integers]:
    """The noisy statistics that a released table holds, by index."""
    names = {f"s{index}": index for index in auxiliary_statistics(bounded)}
    for output in bounded.outputs:
        index = _plain(output)
        if index is not None:
            names[f"c{output.column.id}"] = index
    return {
        index: of_column(table.column(name))
        for name, index in names.items()
        if name in table.column_names
    }


def with_statistics(
    bounded: BoundedRelease,
    table: pa.Table,
    changed: Mapping[int, Integers],
    spreads: Sequence[NoiseSpread],
) -> pa.Table:
    """A released table computed anew from `changed` statistics, by index.

    `spreads` is the noise of each statistic after the change.
    """
    known = noisy_statistics(bounded, table) | dict(changed)
    recomputed = [
        output
        for output in bounded.outputs
        if changed.keys() & (read := set(statistic_indices(output.estimator)))
        and known.keys() >= read
    ]
    some = next(iter(changed.values()))
    statistics = tuple(
        known.get(index, some) for index in range(len(bounded.contributions.statistics))
    )
    arrays = _output_columns(recomputed, NoisyGroups((), table.num_rows, statistics), spreads)
    for name, values in arrays.items():
        table = table.set_column(table.column_names.index(name), name, values)
    return table


def _output_columns(
    outputs: Sequence[EstimatedColumn], groups: NoisyGroups, spreads: Sequence[NoiseSpread]
) -> dict[str, pa.Array]:
    arrays: dict[str, pa.Array] = {}
    # The ends of an interval and the standard deviation are found together.
    errors: dict[Estimator, list[Error]] = {}
    for output in outputs:
        kind = output.column.type
        if output.output_kind is OutputKind.VALUE:
            values = _of_some_rows(output.estimator, _values(output, groups), groups, spreads)
        else:
            if output.estimator not in errors:
                errors[output.estimator] = _errors(output.estimator, groups, spreads)
            parts = (select_part(output.output_kind, each) for each in errors[output.estimator])
            values = arrow_array(parts, kind)
        arrays[f"c{output.column.id}"] = values
    return arrays


def _plain(output: EstimatedColumn) -> int | None:
    """The index of the statistic that a column shows as it is; None if it shows no such."""
    match output:
        case EstimatedColumn(
            estimator=LinearEstimator(
                summands=((index, 1),), step=1, type=Integer(), minimum=None, constant=0
            ),
            output_kind=OutputKind.VALUE,
        ):
            return index
        case _:
            return None


def _integers(values: Integers) -> pa.Array:
    return arrow_array(values.tolist(), HUGEINT) if values.dtype == object else numbers(values)


def _errors(
    estimator: Estimator, groups: NoisyGroups, spreads: Sequence[NoiseSpread]
) -> list[Error]:
    pairs = zip(_of_groups(estimator, groups), groups.rows(), strict=True)
    return [error_interval(own, row, spreads) for own, (row, _) in pairs]


def _of_groups(estimator: Estimator, groups: NoisyGroups) -> Sequence[Estimator]:
    """The estimator of each group, which reads no key of it any more."""
    if isinstance(estimator, DividedSum):
        return estimator.of_each(groups.keys[estimator.factors.key].to_pylist())
    return [estimator] * groups.count


def _of_some_rows(
    estimator: Estimator, values: pa.Array, groups: NoisyGroups, spreads: Sequence[NoiseSpread]
) -> pa.Array:
    """`values`, with NULL in groups whose noisy count of rows may be noise alone."""
    index = row_count_index(estimator)
    if index is None:
        return values
    there = (groups.statistics[index] > half_width(spreads[index])).astype(np.bool_)
    return values if there.all() else null_outside(values, there)


def _values(output: EstimatedColumn, groups: NoisyGroups) -> pa.Array:
    kind = output.column.type
    whole = whole_column(output.estimator, groups.statistics, kind)
    if whole is not None:
        return whole
    pairs = zip(_of_groups(output.estimator, groups), groups.rows(), strict=True)
    return arrow_array((evaluate(own, row, chosen) for own, (row, chosen) in pairs), kind)
