"""Sums by smartnoise-sql on DuckDB: with declared bounds, and with those of its approx_bounds.

Its SQL has no bounds of its own choice. approx_bounds is called by hand, for half of ε, and what it
says is declared for the other half; since it takes seconds, once for all answers to a question.
Values are in thousandths of what is declared where that is large, since it refuses noise whose
scale passes ten million.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import duckdb
from benchmarks.peers.smartnoise import Reader
from benchmarks.peers.sum_questions import DELTA, SumQuestion, Way, answer_questions
from snsql import Privacy
from snsql.metadata import Metadata
from snsql.sql._mechanisms.approx_bounds import approx_bounds
from snsql.sql._mechanisms.laplace import Laplace
from snsql.sql.private_reader import PrivateReader


def ways(connection: duckdb.DuckDBPyConnection) -> Mapping[str, Way]:
    def answer(question: SumQuestion, epsilon: float, low: float, high: float) -> float:
        step = max(1.0, question.highest / 1000)
        connection.execute(
            f"CREATE OR REPLACE VIEW asked AS SELECT id, v / {step} AS v FROM units"
            f" WHERE id < {question.part}"
        )
        reader, query = asked(epsilon, low / step, high / step)
        _, (found,) = reader._execute_ast(query)
        return float(found) * step

    @lru_cache
    def asked(epsilon: float, low: float, high: float) -> tuple[Any, Any]:
        value = {"type": "float", "lower": low, "upper": high}
        table = {"max_ids": 1, "id": {"type": "int", "private_id": True}, "v": value}
        metadata = Metadata.from_dict({"": {"main": {"asked": table}}})
        privacy = Privacy(epsilon=epsilon, delta=DELTA)
        reader = PrivateReader(Reader(conn=connection), metadata, privacy=privacy)
        return reader, reader.parse_query_string("SELECT sum(v) AS total FROM main.asked")

    def declared(question: SumQuestion) -> float:
        return answer(question, question.epsilon, 0.0, question.highest)

    @lru_cache
    def bounds(question: SumQuestion) -> tuple[float | None, float | None]:
        values = connection.execute("SELECT v FROM units WHERE id < ?", [question.part])
        low, high = approx_bounds(values.fetchnumpy()["v"], question.epsilon / 2)
        return low, high

    def approximate(question: SumQuestion) -> float:
        low, high = bounds(question)
        if low is None or high is None:
            raise ValueError("no bounds were found")
        return answer(question, question.epsilon / 2, low, high)

    return {"declared": declared, "approximate": approximate}


def remember_scales() -> None:
    """Keep the scales of noise that it searches for, which takes it a third of a second each."""
    scales: dict[tuple[float, ...], float] = {}
    search = Laplace._compute_noise_scale

    def remembered(noise: Any) -> None:
        key = (noise.epsilon, noise.lower, noise.upper, noise.max_contrib)
        noise.scale = scales.get(key)
        search(noise)
        scales[key] = noise.scale

    Laplace._compute_noise_scale = remembered


if __name__ == "__main__":
    remember_scales()
    answer_questions(ways)
