"""An answer without groups says from how many units on one would be shown."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from data.database import attached
from privacy.seeded import SeededRandomness

from dpsql.schema.load.load import load_schema
from dpsql.session.session import Session

SCHEMA = """
dataset: people
source: people.duckdb
units:
  person: {table: people, key: id}
tables:
  people:
    unit: person
    limits: {groups: 1, rows_per_group: 1, rows: 1}
    columns:
      id: {type: bigint}
      town: {type: varchar}
      sex: {type: varchar, values: [f, m], nullable: false}
budget: {epsilon: 10, delta: 1.0e-6}
per_query: {epsilon: 1}
"""
COUNT = "SELECT town, sex, count(*) AS n FROM people GROUP BY town, sex"


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DPSQL_STATE", str(tmp_path / "state"))
    path = tmp_path / "schema.yaml"
    path.write_text(SCHEMA)
    return path


def notes(path: Path, people: int, sql: str = COUNT) -> tuple[int, tuple[str, ...]]:
    """How many groups are shown of so many people of one town, and what is said beside them."""
    with attached(path.parent / "people.duckdb") as connection:
        connection.execute(
            f"CREATE TABLE people AS SELECT i AS id, 'Bonn' AS town, 'f' AS sex"
            f" FROM range({people}) t(i)"
        )
    with closing(Session(load_schema(path), randomness=SeededRandomness("groups"))) as session:
        answer = session.query(sql)
        return answer.table.num_rows, answer.privacy.notes


def test_a_table_without_groups_says_why(path: Path) -> None:
    rows, said = notes(path, 2)
    assert rows == 0
    (note,) = said
    assert note.startswith("no town is shown: each appears from a noisy number of ")


def test_one_with_groups_says_nothing(path: Path) -> None:
    assert notes(path, 5000) == (1, ())


def test_of_listed_keys_nothing_is_left_out(path: Path) -> None:
    assert notes(path, 0, "SELECT sex, count(*) AS n FROM people GROUP BY sex") == (2, ())
