"""Statements of many columns are answered, and the ledger says in few words how they were drawn."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from data.database import attached

from dpsql.session.answer.stored_answer import detail
from dpsql.session.session import Session

SCHEMA = """\
dataset: wide
source: wide.duckdb
ledger: wide.ledger
tables: {people: {unit: row, columns: {age: {type: integer, bounds: [0, 120], nullable: false}}}}
budget: {epsilon: 1, delta: 1.0e-6, accounting: zcdp}
"""

SUMS = 250
"""Had each of them the whole law beside it, that would be 2 MB, and a charge has 1 MiB at most."""


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Session:
    monkeypatch.setenv("DPSQL_STATE", str(tmp_path / "state"))
    with attached(tmp_path / "wide.duckdb") as connection:
        connection.execute("CREATE TABLE people AS SELECT 30::INTEGER AS age FROM range(100)")
    path = tmp_path / "schema.yaml"
    path.write_text(SCHEMA, encoding="utf-8")
    return Session(path, epsilon="0.5")


def test_sums_that_are_drawn_together_are_charged_however_many_they_are(session: Session) -> None:
    sums = ", ".join(f"sum(age + {n}) AS s{n}" for n in range(SUMS))
    with closing(session):
        answer = session.query(f"SELECT {sums} FROM people")
        assert answer.table.num_columns == SUMS
        loss = answer.privacy.loss
        assert loss is not None
        assert session.balance().spent.amount >= loss.amount > 0


def test_a_law_is_written_once_and_each_part_of_it_says_whose(session: Session) -> None:
    with closing(session):
        (release,) = session.compile(
            "SELECT sum(age), sum(age + 1), sum(age + 2) FROM people"
        ).releases
    first, *others = detail(release)["mechanisms"].split("; ")
    assert first == str(release.step.measurement.mechanisms[0])
    assert others == [f"CorrelatedNoise(law=that of mechanism 1, index={n})" for n in (1, 2)]
