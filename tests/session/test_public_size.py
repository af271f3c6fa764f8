"""Public rows are nobody's secret, but memory is everybody's: what is read of them has an end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from data.database import attached

from dpsql.errors import TooComplex
from dpsql.session.compile import source_facts
from dpsql.session.session import Session

SCHEMA = """\
dataset: sized
source: data.duckdb
tables:
  people: {unit: row, columns: {place: {type: integer, references: places.place}}}
  texts: {public: true, columns: {wide: {type: varchar}}}
  places: {public: true, key: place, columns: {place: {type: integer}, name: {type: varchar}}}
budget: {epsilon: 60, delta: 1.0e-6}
"""


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with attached(tmp_path / "data.duckdb") as connection:
        connection.execute(
            "CREATE TABLE places AS SELECT i::INTEGER AS place, 'place ' || i AS name"
            " FROM range(1_200_000) t(i)"
        )
        connection.execute("CREATE TABLE texts AS SELECT repeat('x', 100_000) AS wide")
        connection.execute("CREATE TABLE people AS SELECT 1 AS place FROM range(100)")
    (tmp_path / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    found = Session(tmp_path / "schema.yaml")
    yield found
    found.close()


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM places",
        "SELECT a.place FROM places a CROSS JOIN places b",
        "SELECT place, wide FROM places CROSS JOIN texts",
    ],
)
def test_public_answers_of_any_size_are_refused_before_memory_is_gone(
    session: Session, sql: str
) -> None:
    with pytest.raises(TooComplex, match="1,000,000 rows or 256 MiB") as refused:
        session.query(sql)
    assert refused.value.hint is not None
    assert "LIMIT" in refused.value.hint


def test_a_million_public_rows_are_an_answer(session: Session) -> None:
    found = session.query("SELECT place FROM places WHERE place < 1000000")
    assert found.table.num_rows == 1_000_000


def test_rows_that_list_keys_are_forgotten_once_they_are_many(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    most = source_facts.MAX_VALUES // 20
    monkeypatch.setattr(source_facts, "MAX_VALUES", most)
    facts = session._context.execution.facts()
    for number in range(24):
        session.explain(
            "SELECT q.place, count(*) FROM people p JOIN places q ON p.place = q.place"
            f" WHERE q.place < 5000 + {number} GROUP BY 1"
        )
        assert facts.values <= most
    assert facts.values > most // 2
