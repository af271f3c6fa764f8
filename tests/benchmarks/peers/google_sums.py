"""Implicit bounds of Google's differential privacy library, as GoogleSQL has them, by PyDP.

BoundedSum without bounds chooses them itself: half of ε is for a noisy histogram of values by
powers of two, the bounds are the outermost bins that pass a threshold. What was read is serialized
once a table, and merged into a new sum for each answer, which draws its bounds and its noise anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import duckdb
from benchmarks.peers.sum_questions import SumQuestion, Way, answer_questions
from pydp.algorithms.laplacian import BoundedSum


def ways(connection: duckdb.DuckDBPyConnection) -> Mapping[str, Way]:
    @lru_cache
    def read(part: int) -> Any:
        values = connection.execute("SELECT v FROM units WHERE id < ?", [part]).fetchnumpy()["v"]
        entries = BoundedSum(epsilon=1.0, delta=0, dtype="float")
        entries.add_entries(values.tolist())
        return entries.serialize()

    def implicit(question: SumQuestion) -> float:
        total = BoundedSum(epsilon=question.epsilon, delta=0, dtype="float")
        total.merge(read(question.part))
        return float(total.result())

    return {"implicit": implicit}


if __name__ == "__main__":
    answer_questions(ways)
