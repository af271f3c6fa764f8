"""A unique text stands in every private cell; none of them is ever seen outside the engine."""

from __future__ import annotations

import io
import logging
import pickle
import re
import traceback
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path

import duckdb
import pytest
from privacy.seeded import SeededRandomness

from dpsql.errors import Error, ExecutionFailed
from dpsql.release.job import Job, run
from dpsql.report.explanation.explanation import Explanation
from dpsql.schema.load.table_section.column_types import engine_source
from dpsql.session.session import Session

CANARY = re.compile("zq7cell")

SCHEMA = """
dataset: letters
source: data.duckdb
units:
  person: {table: people, key: person_id}
tables:
  people:
    key: person_id
    unit: person
    columns:
      person_id: {type: varchar}
      name: {type: varchar}
      town: {type: varchar}
      income: {type: bigint, bounds: [0, 1000]}
  letters:
    unit: {column: person_id, references: people.person_id}
    columns:
      person_id: {type: varchar}
      body: {type: varchar}
      weight: {type: double, bounds: [0, 10]}
budget: {epsilon: 60, delta: 1.0e-6}
"""

QUERIES = (
    "SELECT count(*), sum(income), avg(income) FROM people",
    "SELECT town, count(*) FROM people GROUP BY town",
    "SELECT body, sum(weight) FROM letters GROUP BY body",
    "SELECT count(*) FROM people WHERE CAST(name AS INTEGER) > 0",
    "SELECT count(*) FROM letters WHERE CAST(body AS DATE) > DATE '2020-01-01'",
    "SELECT sum(income) FROM people JOIN letters USING (person_id) WHERE body LIKE 'c%'",
    "SELECT * FROM people",
    "SELECT name FROM people ORDER BY name LIMIT 1",
    "SELECT max(name) FROM people",
    "SELECT any_value(body) FROM letters",
    "SELECT name, count(*) FROM people GROUP BY name HAVING count(*) > 0",
    "SELECT person_id, count(*) FROM letters GROUP BY person_id",
    "SELECT count(DISTINCT body) FROM letters",
    "SELECT nobody FROM people",
    "SELECT count(*) FROM people WHERE name = income",
)


@pytest.fixture
def session(tmp_path: Path) -> Session:
    connection = duckdb.connect(str(tmp_path / "data.duckdb"))
    connection.execute("CREATE TABLE people (person_id TEXT, name TEXT, town TEXT, income BIGINT)")
    connection.execute("CREATE TABLE letters (person_id TEXT, body TEXT, weight DOUBLE)")
    for number in range(60):
        row = [f"zq7cell-id-{number}", f"zq7cell-name-{number}", f"zq7cell-town-{number}"]
        connection.execute("INSERT INTO people VALUES (?, ?, ?, ?)", [*row, number])
        letter = [row[0], f"zq7cell-body-{number}", number / 10]
        connection.execute("INSERT INTO letters VALUES (?, ?, ?)", letter)
    connection.close()
    (tmp_path / "schema.yaml").write_text(SCHEMA)
    return Session(tmp_path / "schema.yaml", epsilon=1)


@pytest.mark.parametrize("sql", QUERIES)
def test_no_private_text_is_seen(
    session: Session, sql: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    seen = io.StringIO()
    with redirect_stdout(seen), redirect_stderr(seen):
        try:
            prepared = session.compile(sql)
            seen.write(f"{prepared!r} {Explanation(session.explain(sql)).json()}")
            answer = session.query(sql)
            seen.write(f"{answer} {answer.table.to_pylist()} {session.balance()}")
        except Error as error:
            seen.write(f"{error} {error!r} {error.hint} {error.detail}")
            traceback.print_exception(error)
    session.close()
    kept = b"".join(p.read_bytes() for p in (tmp_path / "state").rglob("*") if p.is_file())
    for text in (seen.getvalue(), caplog.text, kept.decode("latin-1")):
        # The statement itself may name its own constants, the source never.
        assert not CANARY.search(text)


def test_a_failure_while_it_runs_says_nothing_and_stays_charged(session: Session) -> None:
    session.query("SELECT count(*) FROM letters")
    before = session.balance().spent.amount
    engine = session._context.execution.source()
    prepared = session.compile("SELECT body, sum(weight) FROM letters GROUP BY body")
    broken = [r.step for r in prepared.releases]
    job = Job(engine_source(session.schema), tuple(broken))
    with suppress(Error):
        engine.close()
    with pytest.raises(ExecutionFailed) as caught:
        run(job, engine, SeededRandomness("1"))
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    with pytest.raises(ExecutionFailed):
        session.query("SELECT body, sum(weight) FROM letters GROUP BY body")
    assert session.balance().spent.amount > before
    session.close()


def test_the_job_crosses_a_process_boundary(session: Session) -> None:
    prepared = session.compile("SELECT town, count(*), avg(income) FROM people GROUP BY town")
    job = Job(engine_source(session.schema), tuple(r.step for r in prepared.releases))
    again = pickle.loads(pickle.dumps(job))  # noqa: S301 - our own bytes
    assert again == job
    engine = session._context.execution.source()
    tables = [run(j, engine, SeededRandomness("1")) for j in (job, again)]
    assert tables[0] == tables[1]
    session.close()
