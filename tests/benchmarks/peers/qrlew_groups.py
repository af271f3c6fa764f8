"""Counts and sums by group by pyqrlew with declared rows, ranges and values, on DuckDB."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import sqlalchemy
from benchmarks.peers.group_questions import (
    DELTA,
    EPSILON,
    Answer,
    GroupQuestion,
    Way,
    answer_questions,
)
from pyqrlew import Dataset, Dialect


def ways(connection: duckdb.DuckDBPyConnection, question: GroupQuestion) -> Mapping[str, Way]:
    with TemporaryDirectory() as place:
        path = Path(place) / "catalogue.sqlite"
        with sqlite3.connect(path) as lite:
            lite.execute("CREATE TABLE asked (id INTEGER, k TEXT, v REAL)")
            cursor = connection.execute("SELECT id, k, v FROM asked")
            while rows := cursor.fetchmany(100_000):
                lite.executemany("INSERT INTO asked VALUES (?, ?, ?)", rows)
        data = Dataset.from_database("groups", sqlalchemy.create_engine(f"sqlite:///{path}"))
    data = data.with_range(None, "asked", "v", 0.0, question.highest or 1.0)
    if question.values is not None:
        data = data.with_possible_values(None, "asked", "k", list(question.values))
    relation = data.relation(f"SELECT k, {question.aggregate} AS found FROM asked GROUP BY k")
    private = relation.rewrite_with_differential_privacy(
        data,
        [("asked", [], "id")],
        {"epsilon": EPSILON, "delta": DELTA},
        max_multiplicity=float(question.rows),
        max_multiplicity_share=1.0,
    )
    sql = private.relation().to_query(Dialect.PostgreSql)

    def declared() -> Answer:
        return {key: float(found or 0) for key, found in connection.execute(sql).fetchall()}

    return {"declared": declared}


if __name__ == "__main__":
    answer_questions(ways)
