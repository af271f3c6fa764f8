"""Counts and sums by group with the implicit bounds of Google's library, by PyDP.

What GoogleSQL does for a query is done by hand here: of each unit so many groups are drawn as the
owner declares, what it has in each is one entry, and the bounds of a group's sum are chosen by the
sum itself, for half of its ε. Groups that nobody lists appear by their numbers of units, for half
of the whole, by a truncated geometric law.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import duckdb
from benchmarks.peers.group_questions import (
    DELTA,
    EPSILON,
    Answer,
    GroupQuestion,
    Way,
    answer_questions,
)
from pydp.algorithms.laplacian import BoundedSum
from pydp.algorithms.partition_selection import create_truncated_geometric_partition_strategy


def ways(connection: duckdb.DuckDBPyConnection, question: GroupQuestion) -> Mapping[str, Way]:
    is_listed = question.values is not None
    epsilon = EPSILON if is_listed else EPSILON / 2
    read = {key: (units, _read(values)) for key, units, values in _groups(connection, question)}
    chooser = create_truncated_geometric_partition_strategy(EPSILON / 2, DELTA, question.groups)

    def implicit() -> Answer:
        found = {}
        for key, (units, entries) in read.items():
            if is_listed or chooser.should_keep(units):
                total = _sum(epsilon, question.groups)
                total.merge(entries)
                try:
                    found[key] = float(total.result())
                except RuntimeError:  # too few values for any bounds
                    found[key] = 0.0
        return found

    return {"implicit": implicit}


def _groups(
    connection: duckdb.DuckDBPyConnection, question: GroupQuestion
) -> list[tuple[str, int, list[float]]]:
    """Each group with its number of units, and what they have in it."""
    found: list[tuple[str, int, list[float]]] = connection.execute(
        f"SELECT k, count(*), list(s) FROM (SELECT id, k, s FROM (SELECT id, k,"
        f" ({question.aggregate})::DOUBLE AS s FROM asked GROUP BY id, k)"
        f" QUALIFY row_number() OVER (PARTITION BY id ORDER BY random()) <= {question.groups})"
        " GROUP BY k"
    ).fetchall()
    return found


def _sum(epsilon: float, groups: int) -> Any:
    return BoundedSum(epsilon=epsilon, delta=0, l0_sensitivity=groups, dtype="float")


def _read(values: list[float]) -> Any:
    entries = _sum(EPSILON, 1)
    entries.add_entries(values)
    return entries.serialize()


if __name__ == "__main__":
    answer_questions(ways)
