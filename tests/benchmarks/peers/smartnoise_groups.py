"""Counts and sums by group by smartnoise-sql with declared rows and bounds, on DuckDB.

Its ε is for each column, so that each gets its part of the whole. Groups that nobody lists appear
by its noisy counts of units. Values are in such units that it takes the scale of their noise.
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
from benchmarks.peers.smartnoise import Reader
from snsql import Privacy
from snsql.metadata import Metadata
from snsql.sql.private_reader import PrivateReader


def ways(connection: duckdb.DuckDBPyConnection, question: GroupQuestion) -> Mapping[str, Way]:
    step = max(1.0, (question.highest or 0.0) * question.rows / 1e5)
    connection.execute(f"CREATE OR REPLACE TABLE asked AS SELECT id, k, v / {step} AS v FROM asked")
    value = {"type": "float", "lower": 0.0, "upper": (question.highest or step) / step}
    table = {
        "max_ids": question.rows,
        "censor_dims": question.values is None,
        "sample_max_ids": True,
        "id": {"type": "int", "private_id": True},
        "k": {"type": "string"},
        "v": value,
    }
    metadata = Metadata.from_dict({"": {"main": {"asked": table}}})
    sql = f"SELECT k, {question.aggregate} AS found FROM main.asked GROUP BY k"

    def reader(epsilon: float) -> PrivateReader:
        privacy = Privacy(epsilon=epsilon, delta=DELTA)
        return PrivateReader(Reader(conn=connection), metadata, privacy=privacy)

    columns, _ = reader(1.0).get_privacy_cost(sql)
    factor = 1.0 if question.highest is None else step

    def declared() -> Answer:
        _, *rows = reader(EPSILON / columns).execute(sql)
        return {key: float(found or 0) * factor for key, found in rows}

    return {"declared": declared}


if __name__ == "__main__":
    answer_questions(ways)
