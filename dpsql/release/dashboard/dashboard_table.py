"""Exact totals of all cells → a table of estimates that add up, by noisy residuals alone.

Of the rows only integers of bounded moves are read, by exact mechanisms; estimates are floats,
computed of noisy residuals. How a float was rounded is thus no fact about a row.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from dpsql.plan.bounded_release.bounded_release import BoundedRelease
from dpsql.plan.bounded_release.engine_query import EngineQuery
from dpsql.privacy.mechanisms.randomness import Randomness
from dpsql.privacy.mechanisms.residual_gaussian import MarginalNoise
from dpsql.release.add_noise import RawGroups, all_totals
from dpsql.release.columns.group_keys import ascending, every_key, number_of_cells, take
from dpsql.release.dashboard.chart_error import linear


def dashboard_table(
    raw: RawGroups,
    bounded: BoundedRelease,
    query: EngineQuery,
    noise: MarginalNoise,
    randomness: Randomness,
) -> pa.Table:
    """A table of the keys of every cell, in ascending order, and the estimates of its values."""
    shape = tuple(len(domain.cells) for domain in query.domains)
    estimates = [
        one.release(np.asarray(totals).reshape(shape), randomness).ravel()
        for one, totals in zip(noise.statistics, all_totals(raw.rows, bounded, query), strict=True)
    ]
    keys = every_key(bounded, query)
    order = ascending(keys, np.arange(number_of_cells(query), dtype=np.int64))
    columns = {
        f"c{key.column.id}": take(column, order)
        for key, column in zip(bounded.contributions.keys, keys, strict=True)
    }
    for output in bounded.outputs:
        formula = linear(output.estimator)
        value = np.full(number_of_cells(query), float(formula.constant))
        for index, factor in formula.summands:
            value += float(formula.step * factor) * estimates[index]
        columns[f"c{output.column.id}"] = pa.array(value[order])
    return pa.table(columns)
