"""Noisy integers → typed columns: post-processing, exact until the last rounding."""

from __future__ import annotations

import pyarrow as pa

from dpsql.plan.aggregate import Part
from dpsql.plan.bounded import BoundedRelease
from dpsql.plan.formula import Formula, FormulaOutput
from dpsql.release.arrow import arrow_array
from dpsql.release.calibrate import Measurement
from dpsql.release.interval import Error, error, part_of
from dpsql.release.noise import NoisyGroups
from dpsql.release.value import evaluate
from dpsql.release.vector import whole_column


def columns(bounded: BoundedRelease, groups: NoisyGroups, measurement: Measurement) -> pa.Table:
    """The released table: c<id> for each key and aggregate."""
    arrays: dict[str, pa.Array] = {}
    for key, values in zip(bounded.terms.keys, groups.keys, strict=True):
        arrays[f"c{key.column.id}"] = values
    # The ends of an interval and the standard deviation are found together.
    errors: dict[Formula, list[Error]] = {}
    for output in bounded.outputs:
        kind = output.column.type
        if output.part is Part.VALUE:
            found = _values(output, groups)
        else:
            if output.formula not in errors:
                errors[output.formula] = _errors(output.formula, groups, measurement)
            parts = (part_of(output.part, each) for each in errors[output.formula])
            found = arrow_array(parts, kind)
        arrays[f"c{output.column.id}"] = found
    if not arrays:
        return pa.table({"nothing": pa.array([1] * groups.count, pa.int32())})
    return pa.table(arrays)


def _errors(formula: Formula, groups: NoisyGroups, measurement: Measurement) -> list[Error]:
    return [error(formula, row, measurement.mechanisms) for row, _ in groups.rows()]


def _values(output: FormulaOutput, groups: NoisyGroups) -> pa.Array:
    kind = output.column.type
    whole = whole_column(output.formula, groups.statistics, kind)
    if whole is not None:
        return whole
    found = (evaluate(output.formula, row, chosen) for row, chosen in groups.rows())
    return arrow_array(found, kind)
