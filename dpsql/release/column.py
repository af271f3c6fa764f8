"""Noisy integers → typed columns: post-processing, exact until the last rounding."""

from __future__ import annotations

import pyarrow as pa

from dpsql.plan.aggregate import Part
from dpsql.plan.bounded import BoundedRelease
from dpsql.release.arrow import arrow_array
from dpsql.release.calibrate import Measurement
from dpsql.release.interval import part_of
from dpsql.release.noise import NoisyGroups
from dpsql.release.value import evaluate


def columns(bounded: BoundedRelease, groups: NoisyGroups, measurement: Measurement) -> pa.Table:
    """The released table: c<id> for each key and aggregate."""
    arrays: dict[str, pa.Array] = {}
    for place, key in enumerate(bounded.terms.keys):
        values = [cell[place] for cell in groups.keys]
        arrays[f"c{key.column.id}"] = arrow_array(values, key.column.type)
    for output in bounded.outputs:
        rows = groups.rows()
        if output.part is Part.VALUE:
            found = [evaluate(output.formula, row, chosen) for row, chosen in rows]
        else:
            found = [part_of(output, row, measurement) for row, _ in rows]
        arrays[f"c{output.column.id}"] = arrow_array(found, output.column.type)
    if not arrays:
        return pa.table({"nothing": pa.array([1] * len(groups.keys), pa.int32())})
    return pa.table(arrays)
