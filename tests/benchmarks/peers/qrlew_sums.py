"""Sums by pyqrlew with declared ranges, on DuckDB.

A range that isn't declared is read from the data, extremes and all, which isn't private: there is
no way without one.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import sqlalchemy
from benchmarks.peers.sum_questions import DELTA, SumQuestion, Way, answer_questions
from pyqrlew import Dataset, Dialect


def ways(connection: duckdb.DuckDBPyConnection) -> Mapping[str, Way]:
    @lru_cache
    def dataset(part: int, highest: float) -> Any:
        rows = connection.execute("SELECT id, v FROM units WHERE id < ?", [part]).fetchall()
        with TemporaryDirectory() as place:
            path = Path(place) / "catalogue.sqlite"
            with sqlite3.connect(path) as lite:
                lite.execute("CREATE TABLE units (id INTEGER, v REAL)")
                lite.executemany("INSERT INTO units VALUES (?, ?)", rows)
            found = Dataset.from_database("sums", sqlalchemy.create_engine(f"sqlite:///{path}"))
        return found.with_range(None, "units", "v", 0.0, highest)

    def declared(question: SumQuestion) -> float:
        data = dataset(question.part, question.highest)
        relation = data.relation("SELECT sum(v) AS total FROM units")
        budget = {"epsilon": question.epsilon, "delta": DELTA}
        private = relation.rewrite_with_differential_privacy(
            data, [("units", [], "id")], budget, max_multiplicity=1.0, max_multiplicity_share=1.0
        )
        sql = private.relation().to_query(Dialect.PostgreSql)
        with connection.cursor() as part:
            part.execute(
                f"CREATE TEMP TABLE units AS FROM memory.main.units WHERE id < {question.part}"
            )
            (total,) = part.execute(sql).fetchall()[0]
        return float(total)

    return {"declared": declared}


if __name__ == "__main__":
    answer_questions(ways)
