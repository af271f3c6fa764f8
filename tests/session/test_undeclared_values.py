"""A constant that is no declared value of its column is told beside the answer, and beforehand."""

from __future__ import annotations

from collections.abc import Iterator
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
    columns:
      id: {type: bigint}
      sex: {type: varchar, values: [F, M]}
      rank: {type: smallint, values: [1, 2, 3, 4, 5, 6, 7]}
      town: {type: varchar}
  patients:
    unit: {column: id, references: people.id}
    visible: false
    columns:
      id: {type: bigint}
      ward: {type: varchar, values: [N, S]}
views:
  wards: {query: "SELECT id FROM patients WHERE ward = 'n'"}
budget: {epsilon: 10, delta: 1.0e-6}
"""
SEX = "no declared value of sex is 'f': they are 'F', 'M'"


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    monkeypatch.setenv("DPSQL_STATE", str(tmp_path / "state"))
    (tmp_path / "schema.yaml").write_text(SCHEMA)
    with attached(tmp_path / "people.duckdb") as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT i AS id, 'F' AS sex, 1::SMALLINT AS rank, 'Bonn' AS town"
            " FROM range(9) t(i)"
        )
        connection.execute("CREATE TABLE patients AS SELECT id, 'N' AS ward FROM people")
    schema = load_schema(tmp_path / "schema.yaml")
    with closing(Session(schema, randomness=SeededRandomness("values"))) as session:
        yield session


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FROM people WHERE sex = 'f'",
        "SELECT count(*) FROM people WHERE 'f' <> sex",
        "SELECT count(*) FROM people WHERE sex IN ('F', 'f')",
        "SELECT count(*) FILTER (WHERE sex = 'f') FROM people",
        "SELECT sum(CASE WHEN sex = 'f' THEN 1 ELSE 0 END) FROM people",
        "SELECT town, count(*) FROM (SELECT sex AS s, town FROM people) WHERE s = 'f' GROUP BY 1",
        "SELECT count(*) FROM people WHERE rank = 8 OR sex = 'f'",
    ],
)
def test_a_constant_that_is_no_declared_value_is_told(session: Session, sql: str) -> None:
    assert SEX in session.explain(sql).notes
    assert SEX in session.query(sql).privacy.notes


def test_of_many_declared_values_the_first_are_named(session: Session) -> None:
    notes = session.explain("SELECT count(*) FROM people WHERE rank = 8").notes
    assert notes == ("no declared value of rank is 8: they are 1, 2, 3, 4, 5, 6, …",)


@pytest.mark.parametrize(
    "condition", ["sex = 'F'", "sex > 'f'", "sex = NULL", "town = 'f'", "rank = 2.0", "sex = town"]
)
def test_of_any_other_condition_nothing_is_told(session: Session, condition: str) -> None:
    assert session.explain(f"SELECT count(*) FROM people WHERE {condition}").notes == ()


def test_a_condition_that_a_view_hides_is_not_told(session: Session) -> None:
    assert session.explain("SELECT count(*) FROM wards").notes == ()
