"""Noisy integers → typed columns: post-processing, exact until the last rounding.

A mean, a variance, or a quantile beside a count of rows is NULL where noise alone may have made
that count: as of no rows in SQL. The interval of such a mean is all that its bounds allow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from dpsql.plan.aggregate import OutputKind
from dpsql.plan.bounded_release.bounded_release import BoundedRelease
from dpsql.plan.bounded_release.estimator import (
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
from dpsql.schema.sql_type import HUGEINT, Integer


def columns(bounded: BoundedRelease, groups: NoisyGroups, measurement: Measurement) -> pa.Table:
    """The released table: c<id> for each key and aggregate, s<place> for what stands beside."""
    arrays: dict[str, pa.Array] = {}
    for key, values in zip(bounded.contributions.keys, groups.keys, strict=True):
        arrays[f"c{key.column.id}"] = values
    told = localize(bounded.outputs, measurement.mechanisms)
    arrays |= _output_columns(told.outputs, told.add_statistics(groups), told.spreads)
    for place in auxiliary_statistics(bounded):
        arrays[f"s{place}"] = _integers(groups.statistics[place])
    if not arrays:
        return pa.table({"nothing": pa.array([1] * groups.count, pa.int32())})
    return pa.table(arrays)


def auxiliary_statistics(bounded: BoundedRelease) -> tuple[int, ...]:
    """The noisy statistics that no column shows as they are, where all cells are shown.

    They are kept beside the columns, so that sums and means can be made to add up later.
    """
    if not bounded.shows_all_cells:
        return ()
    places = {place for output in bounded.outputs for place in statistic_indices(output.estimator)}
    return tuple(sorted(places - {_plain(output) for output in bounded.outputs}))


def noisy_statistics(bounded: BoundedRelease, table: pa.Table) -> dict[int, Integers]:
    """The noisy statistics that a released table holds, by their places."""
    names = {f"s{place}": place for place in auxiliary_statistics(bounded)}
    for output in bounded.outputs:
        place = _plain(output)
        if place is not None:
            names[f"c{output.column.id}"] = place
    return {
        place: of_column(table.column(name))
        for name, place in names.items()
        if name in table.column_names
    }


def with_statistics(
    bounded: BoundedRelease,
    table: pa.Table,
    changed: Mapping[int, Integers],
    spreads: Sequence[NoiseSpread],
) -> pa.Table:
    """A released table whose statistics at some places are others, `spreads` their noise."""
    known = noisy_statistics(bounded, table) | dict(changed)
    made_anew = [
        output
        for output in bounded.outputs
        if changed.keys() & (read := set(statistic_indices(output.estimator)))
        and known.keys() >= read
    ]
    some = next(iter(changed.values()))
    statistics = tuple(
        known.get(place, some) for place in range(len(bounded.contributions.statistics))
    )
    arrays = _output_columns(made_anew, NoisyGroups((), table.num_rows, statistics), spreads)
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
            found = _of_some_rows(output.estimator, _values(output, groups), groups, spreads)
        else:
            if output.estimator not in errors:
                errors[output.estimator] = _errors(output.estimator, groups, spreads)
            parts = (select_part(output.output_kind, each) for each in errors[output.estimator])
            found = arrow_array(parts, kind)
        arrays[f"c{output.column.id}"] = found
    return arrays


def _plain(output: EstimatedColumn) -> int | None:
    """The statistic that a column shows as it is."""
    match output:
        case EstimatedColumn(
            estimator=LinearEstimator(
                summands=((place, 1),), step=1, type=Integer(), minimum=None, constant=0
            ),
            output_kind=OutputKind.VALUE,
        ):
            return place
        case _:
            return None


def _integers(values: Integers) -> pa.Array:
    return arrow_array(values.tolist(), HUGEINT) if values.dtype == object else numbers(values)


def _errors(
    estimator: Estimator, groups: NoisyGroups, spreads: Sequence[NoiseSpread]
) -> list[Error]:
    return [error_interval(estimator, row, spreads) for row, _ in groups.rows()]


def _of_some_rows(
    estimator: Estimator, values: pa.Array, groups: NoisyGroups, spreads: Sequence[NoiseSpread]
) -> pa.Array:
    """`values`, NULL in groups that may have no rows, as far as noise tells."""
    place = row_count_index(estimator)
    if place is None:
        return values
    there = (groups.statistics[place] > half_width(spreads[place])).astype(np.bool_)
    if there.all():
        return values
    import pyarrow.compute as pc  # noqa: PLC0415 - few answers need it

    return pc.if_else(pa.array(there.tolist()), values, pa.scalar(None, values.type))


def _values(output: EstimatedColumn, groups: NoisyGroups) -> pa.Array:
    kind = output.column.type
    whole = whole_column(output.estimator, groups.statistics, kind)
    if whole is not None:
        return whole
    found = (evaluate(output.estimator, row, chosen) for row, chosen in groups.rows())
    return arrow_array(found, kind)
