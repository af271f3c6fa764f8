"""A source on Spark, through a session: its answers, what it refuses, and how it fails."""

from __future__ import annotations

import subprocess
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from emit.spark_server import url
from notes.exact import exact_measurement
from privacy.seeded import SeededRandomness

import dpsql
from dpsql.engine.source import SparkSource
from dpsql.engine.spark import engine
from dpsql.engine.spark.connection import SETTINGS
from dpsql.engine.spark.session import SparkServerSession
from dpsql.errors import ExecutionCancelled, ExecutionFailed, Refused, SchemaFault, SourceFault
from dpsql.plan.bounded_release.bounded_release import ByUnit, LimitGroups
from dpsql.release.job import Job, run
from dpsql.schema.load.load import load_schema
from dpsql.schema.load.table_section.column_types import engine_source
from dpsql.schema.verify import KeyRecord, record_path, verify_keys
from dpsql.session.compile.compiled import CompiledStatement
from dpsql.session.session import Session
from dpsql.session.sidecar import open_source
from dpsql.session.unit_rows import without_unit
from dpsql.structs import replace

SCHEMA = """\
dataset: shop_{name}
source: {source}
units:
  person: {{table: people, key: id}}
budget: {{epsilon: 60, delta: 1.0e-3, accounting: zcdp}}
per_query: {{epsilon: 1, max_epsilon: 1, delta: 1.0e-6}}
tables:
  people:
    unit: person
    key: id
    limits: {{groups: 1, rows_per_group: 1}}
    columns:
      id: {{type: integer, nullable: false}}
      age: {{type: integer, bounds: [0, 120]}}
  orders:
    unit: {{column: person, references: people.id}}
    limits: {{groups: {groups}, rows_per_group: {groups}, rows: {groups}}}
    columns:
      person: {{type: integer, nullable: false}}
      town: {{type: varchar, values: [Bonn, Kiel, Ulm], nullable: false}}
      paid: {{type: "decimal(12,2)", bounds: [0, 10]}}
      share: {{type: double, bounds: [0, 1]}}
      day: {{type: date, bounds: [2024-01-01, 2024-12-31]}}
  towns:
    public: true
    key: town
    columns:
      town: {{type: varchar}}
      land: {{type: varchar}}
"""

STATEMENTS = (
    "SELECT count(*) AS n, avg(age) AS a FROM people WHERE age > 20",
    "SELECT town, count(*) AS n, sum(paid) AS p, avg(share) AS s FROM orders GROUP BY town",
    "SELECT month(day) AS m, count(DISTINCT person) AS n FROM orders GROUP BY month(day)",
    "SELECT town, median(paid) AS m FROM orders GROUP BY town",
    "SELECT t.land, sum(o.paid) AS p FROM orders o JOIN towns t ON o.town = t.town GROUP BY t.land",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tables as Parquet files; a person has six orders."""
    made = tmp_path_factory.mktemp("shop")
    orders = (
        "SELECT (i % 50)::INTEGER AS person, ['Bonn', 'Kiel', 'Ulm'][1 + i % 3] AS town,"
        " (i % 1300 / 100)::DECIMAL(12,2) AS paid, CASE WHEN i % 7 = 0 THEN 'nan'::DOUBLE"
        " ELSE i % 11 / 10 END AS share, DATE '2024-01-01' + (i % 366)::INTEGER AS day"
        " FROM range(300) t(i)"
    )
    tables = {
        "people": "SELECT i::INTEGER AS id, (i % 90)::INTEGER AS age FROM range(50) t(i)",
        "orders": orders,
        "towns": "FROM (VALUES ('Bonn', 'NW'), ('Kiel', 'SH'), ('Ulm', 'BW')) AS t(town, land)",
    }
    for name, rows in tables.items():
        duckdb.execute(f"COPY ({rows}) TO '{made / name}.parquet'")
    return made


@pytest.fixture(scope="module")
def sessions(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Session]]:
    """Over the files, and over Spark, which reads them."""
    made = tmp_path_factory.mktemp("schemas")
    sources = {"files": str(folder), "spark": f"{url()}/;folder={folder}\nversion: 1"}
    opened = {}
    for name, source in sources.items():
        path = made / f"{name}.yaml"
        path.write_text(SCHEMA.format(name=name, source=source, groups=50))
        opened[name] = Session(load_schema(path))
    for session in opened.values():
        with open_source(session.schema) as engine:
            assert all(verify_keys(session.schema, engine).values())
            assert not list(without_unit(session.schema, engine, {"people": 50, "orders": 300}))
    yield opened
    for session in opened.values():
        session.close()


def exact(ready: CompiledStatement, session: Session) -> dict[str, pa.Table]:
    """What its releases have without noise."""
    steps = tuple(
        replace(release.step, measurement=exact_measurement(release, threshold=1))
        for release in ready.releases
    )
    job = Job(engine_source(session.schema), steps)
    return run(job, session._context.execution.source(), SeededRandomness("salt"))


def test_answers_are_those_of_files(sessions: dict[str, Session]) -> None:
    for sql in STATEMENTS:
        files, spark = (session.compile(sql) for session in sessions.values())
        assert files.loss == spark.loss
        assert all(release.step.pushed is not None for release in spark.releases)
        assert exact(spark, sessions["spark"]) == exact(files, sessions["files"]), sql


def test_no_key_is_believed_of_rows_that_may_change(sessions: dict[str, Session]) -> None:
    """A unit's only group is looked for, too: a version that is stated keeps no rows."""
    schema = sessions["spark"].schema
    with open_source(schema) as engine:
        held = KeyRecord.of(schema, engine.fingerprint(), dict.fromkeys(schema.tables, True))
    held.save(record_path(schema))
    with closing(Session(schema)) as session:
        for own, is_believed in ((session, False), (sessions["files"], True)):
            ready = own.compile("SELECT age, count(*) AS n FROM people GROUP BY age")
            limited = ready.releases[0].step.bounded.limited
            assert isinstance(limited, LimitGroups)
            assert isinstance(limited.limit, ByUnit) is is_believed


def test_what_spark_does_not_compute_is_refused_before_the_charge(
    sessions: dict[str, Session],
) -> None:
    with pytest.raises(Refused, match="sin of DOUBLE is not computed on Spark"):
        sessions["spark"].compile("SELECT count(*) FROM orders WHERE sin(share) > 0")


def test_a_failure_says_nothing(
    sessions: dict[str, Session], folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    ready = sessions["spark"].compile(STATEMENTS[1])
    step = ready.releases[0].step
    assert step.pushed is not None
    broken = replace(step.pushed.totals, sql="SELECT CAST('a secret' AS INT) AS g0")
    steps = (replace(step, pushed=replace(step.pushed, totals=broken)),)
    engine = sessions["spark"]._context.execution.source()
    capfd.readouterr()
    with pytest.raises(ExecutionFailed) as raised:
        run(Job(engine_source(sessions["spark"].schema), steps), engine, SeededRandomness("salt"))
    assert raised.value.__cause__ is None
    assert raised.value.__context__ is None
    assert "secret" not in "".join(traceback.format_exception(raised.value))
    written = "".join(capfd.readouterr())
    assert "secret" not in written
    assert str(folder) not in written


def test_an_interrupt_ends_a_statement(sessions: dict[str, Session]) -> None:
    engine = sessions["spark"]._context.execution.source()
    ready = sessions["spark"].compile(STATEMENTS[1])
    step = ready.releases[0].step
    assert step.pushed is not None
    slow = replace(
        step.pushed.totals,
        # A task notices after some thousand rows that it is to end: of a join, each has many.
        sql="SELECT SUM(CAST(id AS DECIMAL(38,0))) AS s0 FROM RANGE(1000000000000)",
    )
    steps = (replace(step, pushed=replace(step.pushed, totals=slow)),)
    done = threading.Event()

    def interrupt() -> None:
        done.wait(3)
        engine.interrupt()

    others = threading.Thread(target=interrupt)
    others.start()
    try:
        job = Job(engine_source(sessions["spark"].schema), steps)
        with pytest.raises(ExecutionCancelled):
            run(job, engine, SeededRandomness("salt"))
    finally:
        done.set()
        others.join()
    # Another statement has another session.
    assert exact(ready, sessions["spark"])


def test_settings_are_pinned() -> None:
    session = SparkServerSession(SparkSource(url()))
    try:
        for name, value in SETTINGS.items():
            assert session.setting(name) == value
    finally:
        session.close()


def test_a_view_is_no_table(tmp_path: Path) -> None:
    owner = SparkServerSession(SparkSource(url()))
    name = f"orders_{tmp_path.name.replace('-', '_')}"
    try:
        owner.rows(f"CREATE OR REPLACE VIEW {name} AS SELECT 1 AS person")
        path = tmp_path / "schema.yaml"
        path.write_text(
            f"dataset: shop\nsource: {url()}\nversion: 1\n"
            f"units:\n  person: {{table: {name}, key: person}}\nbudget: {{epsilon: 1, delta: 0}}\n"
            f"tables:\n  {name}:\n    unit: person\n    key: person\n    columns:\n"
            "      person: {type: integer}\n",
            encoding="utf-8",
        )
        with pytest.raises(SourceFault, match="is no table"):
            load_schema(path)
    finally:
        owner.rows(f"DROP VIEW IF EXISTS {name}")
        owner.close()


def test_a_server_that_is_not_there_is_told_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    url()
    monkeypatch.setattr("dpsql.engine.spark.connection._RETRIES", 1)  # of ten seconds
    with pytest.raises(SourceFault, match=r"^sc://127\.0\.0\.1:1 can't be reached"):
        SparkServerSession(SparkSource("sc://127.0.0.1:1/;token=secret"))


def test_what_a_server_computes_is_proved_once_for_all_folders(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Another address, if of the same server, may lead to another: a proxy reads what it says."""
    proved: list[SparkServerSession] = []
    monkeypatch.setattr(engine, "check_semantics", proved.append)
    monkeypatch.setattr(engine, "_PROVED", set())
    for setting, proofs in (
        (f"folder={tmp_path}", 1),
        (f"folder={tmp_path.parent}", 1),
        ("user_id=another", 2),
        (f"user_id=another;folder={tmp_path}", 2),
    ):
        engine.SparkEngine(SparkSource(f"{url()}/;{setting}")).close()
        assert len(proved) == proofs, setting


def test_a_version_is_stated(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "schema.yaml"
    source = f"sc://127.0.0.1:1/;folder={folder}"
    path.write_text(SCHEMA.format(name="spark", source=source, groups=5), encoding="utf-8")
    with pytest.raises(SchemaFault, match="version"):
        load_schema(path)


def test_pyspark_is_imported_where_a_session_is_opened() -> None:
    code = (
        "import sys, dpsql, dpsql.cli.main, dpsql.engine.opening\n"
        "assert not [name for name in sys.modules if name.startswith(('pyspark', 'grpc'))]"
    )
    assert dpsql.__name__
    subprocess.run([sys.executable, "-c", code], check=True)
