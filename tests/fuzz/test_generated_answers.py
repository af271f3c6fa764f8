"""Generated statements have DuckDB's answers where there is no noise, over clean data."""

from __future__ import annotations

import os
from collections.abc import Callable
from random import Random

import pytest
from differential.agreement import disagreement
from differential.exact_answer import exact_answer, prepared
from differential.world import generated
from fuzz import clause, kept, scoped
from neighbor_search.share import values_in_turn

from dpsql.errors import Error

CHUNK = 25
ORDINARY = 200
LONG = int(os.environ.get("DPSQL_ANSWERS", "10000"))
CHUNKS = values_in_turn(range(ORDINARY // CHUNK), 8)


@pytest.mark.parametrize("chunk", CHUNKS)
def test_an_answer_without_noise_is_duckdbs(chunk: int) -> None:
    assert _compare(scoped.statement, Random(f"answers {chunk}")) > CHUNK // 2


@pytest.mark.parametrize("chunk", CHUNKS)
def test_kept_public_rows_count_as_duckdb_counts_them(chunk: int) -> None:
    assert _compare(kept.statement, Random(f"kept {chunk}")) > 0.8 * CHUNK


@pytest.mark.parametrize("chunk", CHUNKS)
def test_rows_and_columns_are_rearranged_as_duckdb_does(chunk: int) -> None:
    assert _compare(clause.statement, Random(f"clauses {chunk}")) > 0.8 * CHUNK


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(LONG // CHUNK // 5))
def test_rows_and_columns_are_rearranged_as_duckdb_does_at_length(chunk: int) -> None:
    assert _compare(clause.statement, Random(f"clauses at length {chunk}")) > 0.8 * CHUNK


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(LONG // CHUNK))
def test_an_answer_without_noise_is_duckdbs_at_length(chunk: int) -> None:
    assert _compare(scoped.statement, Random(f"answers at length {chunk}")) > CHUNK // 2


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(LONG // CHUNK // 5))
def test_kept_public_rows_count_as_duckdb_counts_them_at_length(chunk: int) -> None:
    assert _compare(kept.statement, Random(f"kept at length {chunk}")) > 0.8 * CHUNK


def _compare(statement: Callable[[Random], str], random: Random) -> int:
    """How many statements of a chunk were answered."""
    data, answered = generated("clinic"), 0
    for _ in range(CHUNK):
        sql = statement(random)
        try:
            ready = prepared(sql, data)
        except Error:
            continue
        answered += 1
        if any(release.step.bounded.contributions.cell_choices for release in ready.releases):
            continue  # a chosen value is the middle of a cell: tests/release has its law
        # Where SQL keeps rows without a partner, it shows all groups, too.
        ours = exact_answer(ready, data, empty_groups=kept.keeps_all(sql))
        theirs = data.connection.sql(sql).fetchall()
        wrong = disagreement(ours.rows, theirs, ours.slack, order=False, nothing=True)
        assert not wrong, f"{sql}\n{wrong}"
    return answered
