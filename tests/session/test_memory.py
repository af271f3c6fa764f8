"""A release that needs more memory than there is fails as anything does that fails on data."""

from __future__ import annotations

import traceback
from pathlib import Path

import duckdb
import pytest
from engine.spilling import spill_without_httpfs
from privacy.seeded import SeededRandomness
from session.jobs import job_of

from dpsql.engine.opening import open_engine
from dpsql.errors import ExecutionFailed
from dpsql.release.job import run

SCHEMA = """\
dataset: words
source: words.duckdb
tables:
  words: {unit: row, columns: {word: {type: varchar}, nr: {type: integer, bounds: [0, 9]}}}
budget: {epsilon: 8, delta: 1.0e-6, accounting: zcdp}
"""


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT word, count(*) FROM words GROUP BY word",
        "SELECT word, sum(nr), avg(nr), count(DISTINCT nr) FROM words GROUP BY word",
    ],
)
def test_too_little_memory_is_the_one_failure(sql: str, tmp_path: Path) -> None:
    with duckdb.connect(tmp_path / "words.duckdb") as connection:
        connection.execute(
            "CREATE TABLE words AS SELECT 'secret word ' || hash(i) word, i % 10 nr"
            " FROM range(400000) r(i)"
        )
    job, randomness = job_of(sql, SCHEMA, tmp_path), SeededRandomness("memory")
    with open_engine(job.source, threads=1) as engine:
        assert run(job, engine, randomness)
    with (
        open_engine(job.source, threads=1, memory_limit="24MB") as engine,
        pytest.raises(ExecutionFailed) as failure,
    ):
        run(job, engine, randomness)
    assert failure.value.args == ExecutionFailed().args
    assert failure.value.__context__ is None
    shown = "".join(traceback.format_exception(failure.value))
    assert "secret" not in shown
    assert "emory" not in str(failure.value)


def test_what_is_spilled_gives_the_same_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spill_without_httpfs(monkeypatch)
    with duckdb.connect(tmp_path / "words.duckdb") as connection:
        connection.execute(
            "CREATE TABLE words AS SELECT 'word ' || hash(i // 2) word, i % 10 nr"
            " FROM range(400000) r(i)"
        )
    sql = "SELECT word, count(*), sum(nr) FROM words GROUP BY word"
    with (
        open_engine(job_of(sql, SCHEMA, tmp_path).source, threads=1, memory_limit="18MB") as engine,
        pytest.raises(ExecutionFailed),
    ):
        run(job_of(sql, SCHEMA, tmp_path), engine, SeededRandomness("memory"))
    released = []
    for spilled, memory in (("", None), ("spill: {gigabytes: 1, folder: spilled}\n", "18MB")):
        job = job_of(sql, SCHEMA + spilled, tmp_path)
        with open_engine(job.source, threads=1, memory_limit=memory) as engine:
            released.append(run(job, engine, SeededRandomness("memory")))
    assert released[0] == released[1]
    assert not list((tmp_path / "spilled").iterdir())
