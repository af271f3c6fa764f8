"""Counts and sums by group by DPSQL+ with declared rows and clipping, on DuckDB; see `dpsql_plus`.

It selects all groups by noisy counts of units, also those that are listed.
"""

from __future__ import annotations

from collections.abc import Mapping

import duckdb
from benchmarks.peers.group_questions import (
    DELTA,
    EPSILON,
    Answer,
    GroupQuestion,
    Way,
    answer_questions,
)
from dpsql.aggregation import Aggregation, AggregationColumn
from dpsql.backend import DuckDBBackend
from dpsql.dp_params import DPParams


def ways(connection: duckdb.DuckDBPyConnection, question: GroupQuestion) -> Mapping[str, Way]:
    backend = DuckDBBackend(connection)
    column, clipping = AggregationColumn(Aggregation.COUNT, ["*"]), None
    if question.highest is not None:
        column, clipping = AggregationColumn(Aggregation.SUM, ["v"]), [(0.0, question.highest)]
    params = DPParams(question.rows, [clipping], epsilon=EPSILON, delta=DELTA)

    def declared() -> Answer:
        sql = "SELECT id, k, v FROM asked"
        done = backend.execute_sql("id", params, sql, [column], ["k"], [])
        return {str(key): float(found) for key, found in done.iloc[:, 0].items()}

    return {"declared": declared}


if __name__ == "__main__":
    answer_questions(ways)
