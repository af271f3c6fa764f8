"""Several processes that compute: one of them may die, and the integers stay."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from emit.spark_server import url
from engine.spark_shop import before_it_computes
from notes.exact import exact_measurement
from privacy.seeded import SeededRandomness

from dpsql.engine.source import SparkSource
from dpsql.engine.spark.session import SparkServerSession
from dpsql.release.job import Job, run
from dpsql.schema.load.load import load_schema
from dpsql.schema.load.table_section.column_types import engine_source
from dpsql.session.session import Session
from dpsql.structs import replace

SCHEMA = """\
dataset: visits
source: {source}
version: 1
units:
  person: {{table: visits, key: person}}
budget: {{epsilon: 60, delta: 1.0e-3, accounting: zcdp}}
tables:
  visits:
    unit: person
    limits: {{groups: 2, rows_per_group: 3, rows: 4}}
    columns:
      person: {{type: bigint, nullable: false}}
      town: {{type: bigint, nullable: false}}
      paid: {{type: bigint, bounds: [0, 9]}}
"""
pytestmark = [pytest.mark.slow]

COUNT = "SELECT town, count(*) AS n, sum(paid) AS s FROM visits GROUP BY town"


def executors() -> list[int]:
    """The processes of the cluster's executors; tests are skipped where there is no cluster."""
    session = SparkServerSession(SparkSource(url()))
    try:
        master, application = (session.setting(f"spark.{name}") for name in ("master", "app.id"))
    finally:
        session.close()
    if master is None or not master.startswith("spark://"):
        pytest.skip("no cluster: export DPSQL_SPARK=$(.ci/spark cluster)")
    running = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = file.read_bytes().decode(errors="replace").split("\0")
        except OSError:  # it has ended
            continue
        if application in words and any("ExecutorBackend" in word for word in words):
            running.append(int(file.parent.name))
    return running


@pytest.fixture(scope="module")
def integers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], pa.Table]]:
    """What a release has without noise, of a table in which most units are over all limits."""
    assert executors()
    folder = tmp_path_factory.mktemp("visits")
    rows = "SELECT i % 50000 AS person, i * 7919 % 11 AS town, i % 10 AS paid"
    rows += " FROM range(3000000) t(i)"
    duckdb.execute(f"COPY ({rows}) TO '{folder / 'visits.parquet'}' (ROW_GROUP_SIZE 100000)")
    path = folder / "schema.yaml"
    path.write_text(SCHEMA.format(source=f"{url()}/;folder={folder}"), encoding="utf-8")
    with closing(Session(load_schema(path))) as session:
        steps = tuple(
            replace(release.step, measurement=exact_measurement(release, threshold=1))
            for release in session.compile(COUNT).releases
        )
        job = Job(engine_source(session.schema), steps)
        yield lambda: run(job, session._context.execution.source(), SeededRandomness("salt"))


@pytest.mark.parametrize("seconds", [0.0, 0.5, 1.0])
def test_an_executor_that_is_killed_while_a_release_runs_changes_no_integer(
    integers: Callable[[], pa.Table], monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    expected = integers()
    victim, is_killed = executors()[0], threading.Event()

    def kill() -> None:
        os.kill(victim, signal.SIGKILL)
        is_killed.set()

    before_it_computes(monkeypatch, lambda _: threading.Timer(seconds, kill).start())
    assert integers() == expected
    assert is_killed.is_set()
