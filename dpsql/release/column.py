"""Noisy integers → typed columns: post-processing, exact until the last rounding."""

from __future__ import annotations

import pyarrow as pa

from dpsql.plan.aggregate import Part
from dpsql.plan.bounded import BoundedRelease
from dpsql.plan.formula import FormulaOutput
from dpsql.release.arrow import arrow_array
from dpsql.release.calibrate import Measurement
from dpsql.release.interval import part_of
from dpsql.release.noise import NoisyGroups
from dpsql.release.value import evaluate
from dpsql.release.vector import whole_column


def columns(bounded: BoundedRelease, groups: NoisyGroups, measurement: Measurement) -> pa.Table:
    """The released table: c<id> for each key and aggregate."""
    arrays: dict[str, pa.Array] = {}
    for key, values in zip(bounded.terms.keys, groups.keys, strict=True):
        arrays[f"c{key.column.id}"] = values
    for output in bounded.outputs:
        arrays[f"c{output.column.id}"] = _values(output, groups, measurement)
    if not arrays:
        return pa.table({"nothing": pa.array([1] * groups.count, pa.int32())})
    return pa.table(arrays)


def _values(output: FormulaOutput, groups: NoisyGroups, measurement: Measurement) -> pa.Array:
    kind, rows = output.column.type, groups.rows()
    if output.part is not Part.VALUE:
        return arrow_array((part_of(output, row, measurement) for row, _ in rows), kind)
    whole = whole_column(output.formula, groups.statistics, kind)
    if whole is not None:
        return whole
    return arrow_array((evaluate(output.formula, row, chosen) for row, chosen in rows), kind)
