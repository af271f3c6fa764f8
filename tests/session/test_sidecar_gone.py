"""A sidecar that is gone, or another, when a charged statement runs doesn't fail it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pyarrow as pa
import pytest
from data.database import attached
from engine.relay import Relay
from neighbor_search.share import in_turn
from notes.exact import exact_mechanisms
from privacy.seeded import SeededRandomness

from dpsql.engine.engine import Engine
from dpsql.engine.opening import open_engine
from dpsql.pgwire.workers.tasks import RunJob, tables_of
from dpsql.pgwire.workers.worker import _EnginePool
from dpsql.privacy.mechanisms.randomness import Randomness
from dpsql.release.job import Job, Step, run
from dpsql.schema.load.load import load_schema
from dpsql.schema.load.table_section.column_types import engine_source
from dpsql.schema.model import Schema
from dpsql.session.compile.compiled import CompiledStatement
from dpsql.session.run.execution import Execution
from dpsql.session.session import Session
from dpsql.session.sidecar import open_source, prepare_source, sidecar_of, sidecar_path
from dpsql.structs import replace

SCHEMA = """\
dataset: shop
source: shop.duckdb
ledger: shop.ledger
units: {buyer: {table: buyers, key: buyer}}
tables:
  buyers: {unit: buyer, key: buyer, columns: {buyer: {type: bigint}}}
  sales:
    unit: {column: buyer, references: buyers.buyer}
    limits: {groups: 3, rows_per_group: 4}
    columns:
      buyer: {type: bigint}
      kind: {type: varchar, values: [a, b]}
      price: {type: integer, bounds: [0, 9]}
budget: {epsilon: 8, delta: 1.0e-6, accounting: zcdp}
"""

ASKED = [
    "SELECT kind, count(*), sum(price) FROM sales GROUP BY 1",
    "SELECT count(*), sum(price) FROM sales",
    "SELECT sum(price) FROM sales JOIN buyers USING (buyer)",
    "SELECT median(price) FROM sales",
    "SELECT count(*) FROM sales WHERE price > (SELECT avg(price) FROM sales)",
    """SELECT kind, count(*) FROM sales JOIN (SELECT kind AS k, count(*) AS n FROM sales GROUP BY 1)
    ON kind = k WHERE n > 1 GROUP BY 1""",
]


@pytest.fixture
def schema(tmp_path: Path) -> Schema:
    with attached(tmp_path / "shop.duckdb") as connection:
        connection.execute("CREATE TABLE buyers AS SELECT i AS buyer FROM range(40) r(i)")
        connection.execute(
            "CREATE TABLE sales AS SELECT i % 40 * (i % 3) % 40 AS buyer,"
            " CASE WHEN i % 2 = 0 THEN 'a' ELSE 'b' END AS kind, i % 12 AS price"
            " FROM range(500) r(i)"
        )
    (tmp_path / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    found = load_schema(tmp_path / "schema.yaml")
    with open_engine(engine_source(found)) as engine:
        assert prepare_source(found, engine) == ("buyers", "sales")
    return found


def removed(path: Path) -> None:
    path.unlink()


def replaced(path: Path) -> None:
    (path.parent / "other").write_bytes(b"no database")
    (path.parent / "other").rename(path)


GONE = [removed, replaced]
CHANGED = in_turn(
    (
        (f"{number}-{change.__name__}", (sql, change))
        for number, sql in enumerate(ASKED)
        for change in GONE
    ),
    share=5,
)


class Late(Execution):
    """The file goes after the charge, before the statement runs."""

    def __init__(self, schema: Schema, change: Callable[[Path], None]) -> None:
        super().__init__(schema, lambda _: None)
        self._path, self._change = sidecar_path(schema), change

    def run(
        self, steps: tuple[Step, ...], randomness: Randomness, read: Mapping[str, pa.Table]
    ) -> dict[str, pa.Table]:
        if self._path.exists():
            self._change(self._path)
        return super().run(steps, randomness, read)


@pytest.mark.parametrize(("sql", "change"), CHANGED)
def test_a_charged_statement_is_answered(
    schema: Schema, sql: str, change: Callable[[Path], None]
) -> None:
    session = Session(schema, execution=Late(schema, change))
    answer = session.query(sql)
    assert answer.table.num_rows
    session.close()


class Opening(Execution):
    """Its engine doesn't have the sidecar open, as a server's hasn't."""

    def source(self) -> Engine:
        return Elsewhere(super().source())


class Elsewhere(Relay):
    @property
    def holds_sidecar(self) -> bool:
        return False


def planned(schema: Schema, sql: str) -> CompiledStatement:
    session = Session(schema, execution=Opening(schema, lambda _: None))
    found = session.compile(sql)
    assert "dpsql prepared" in found.releases[0].step.query.sql
    session.close()
    return found


def test_an_engine_that_has_the_sidecar_open_needs_nothing_else(schema: Schema) -> None:
    session = Session(schema)
    (release,) = session.compile(ASKED[0]).releases
    assert "dpsql prepared" in release.step.query.sql
    assert release.step.without_sidecar is None
    session.close()


def job_of(schema: Schema, sql: str) -> Job:
    """Without noise: the mechanisms are the tests' own."""
    steps = [release.step for release in planned(schema, sql).releases]
    return Job(
        engine_source(schema),
        tuple(
            replace(
                step,
                measurement=replace(
                    step.measurement,
                    mechanisms=exact_mechanisms(len(step.bounded.contributions.statistics)),
                ),
            )
            for step in steps
        ),
    )


@pytest.mark.parametrize(("sql", "change"), CHANGED)
def test_a_worker_answers(schema: Schema, sql: str, change: Callable[[Path], None]) -> None:
    job = Job(engine_source(schema), tuple(r.step for r in planned(schema, sql).releases))
    with open_source(schema) as engine:
        version = engine.fingerprint()
    sidecar = sidecar_of(schema, lambda: version)
    desk = _EnginePool(2**30, 1)
    assert tables_of(desk.do(RunJob(job, version, sidecar)))
    change(sidecar_path(schema))
    for found in (sidecar, sidecar_of(schema, lambda: version), None):
        assert tables_of(desk.do(RunJob(job, version, found)))


@pytest.mark.parametrize("sql", [sql for sql in ASKED if "median" not in sql])
def test_the_integers_are_those_of_the_sidecar(schema: Schema, sql: str) -> None:
    job = job_of(schema, sql)
    with open_source(schema) as engine:
        expected = run(job, engine, SeededRandomness("gone"))
    for step in job.steps:
        assert step.without_sidecar is not None
        assert "dpsql prepared" in step.query.sql
        assert "dpsql prepared" not in step.without_sidecar.query.sql
    with open_engine(engine_source(schema)) as engine:
        found = run(job, engine, SeededRandomness("gone"))
    assert {name: table.to_pydict() for name, table in found.items()} == {
        name: table.to_pydict() for name, table in expected.items()
    }
