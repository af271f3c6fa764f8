"""Sums by DPSQL+ with declared clipping, on DuckDB; see `dpsql_plus` for where it is from.

It has no bounds of its own choice. Half of ε is for the choice of groups, also where nothing is
grouped by, and of few units nothing is shown.
"""

from __future__ import annotations

from collections.abc import Mapping

import duckdb
from benchmarks.peers.sum_questions import DELTA, SumQuestion, Way, answer_questions
from dpsql.aggregation import Aggregation, AggregationColumn
from dpsql.backend import DuckDBBackend
from dpsql.dp_params import DPParams


def ways(connection: duckdb.DuckDBPyConnection) -> Mapping[str, Way]:
    backend, columns = DuckDBBackend(connection), [AggregationColumn(Aggregation.SUM, ["v"])]

    def declared(question: SumQuestion) -> float:
        clipping = [[(0.0, question.highest)]]
        params = DPParams(1, clipping, epsilon=question.epsilon, delta=DELTA)
        sql = f"SELECT id, v FROM units WHERE id < {question.part}"
        done = backend.execute_sql("id", params, sql, columns, [], [])
        if done.empty:
            raise ValueError("the choice of groups left the only one out")
        return float(done.iloc[0, 0])

    return {"declared": declared}


if __name__ == "__main__":
    answer_questions(ways)
