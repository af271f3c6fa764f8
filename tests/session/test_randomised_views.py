"""Views of randomised answers: what they declare holds, and what has no estimate is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from data.database import attached
from privacy.seeded import SeededRandomness

from dpsql.errors import Refused
from dpsql.session.session import Session

ROWS = 60_000

SCHEMA = """\
dataset: survey
source: survey.duckdb
units: {person: {table: answers, key: id}}
tables:
  answers:
    key: id
    unit: person
    columns:
      id: {type: bigint, bounds: [0, 100]}
      score:
        type: integer
        values: [0, 1, 2, 3, 4, 5]
        nullable: false
        randomized_response: {epsilon: 3}
views:
  low: {query: "SELECT id, score FROM answers", columns: {score: {bounds: [1, 2]}}}
  listed: {query: "SELECT id, score FROM answers", columns: {score: {values: [1, 2]}}}
  again: {query: "SELECT id, score FROM low", columns: {score: {bounds: [-9, 99]}}}
  computed: {query: "SELECT id, score + 0 AS score FROM answers"}
budget: {epsilon: 60, delta: 1e-6}
per_query: {epsilon: 5}
"""


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    """Each score was said equally often, so that each is estimated to be as often true."""
    with attached(tmp_path / "survey.duckdb") as made:
        made.execute(
            "CREATE TABLE answers AS SELECT i::BIGINT AS id, (i % 6)::INT AS score "
            f"FROM range({ROWS}) t(i)"
        )
    path = tmp_path / "schema.yaml"
    path.write_text(SCHEMA, encoding="utf-8")
    return path


@pytest.mark.bounds
@pytest.mark.parametrize(
    ("sql", "mean"),
    [
        ("SELECT sum(score) FROM answers", 15 / 6),
        ("SELECT sum(score) FROM low", 10 / 6),
        ("SELECT sum(score) FROM listed", 10 / 6),
        ("SELECT sum(2 * score) FROM low", 20 / 6),
        ("SELECT sum(score) FILTER (WHERE score > 3) FROM low", 4 / 6),
        ("SELECT sum(CASE WHEN score = 5 THEN 6 ELSE 0 END) FROM low", 6 / 6),
    ],
)
def test_bounds_of_a_view_hold_of_randomised_answers(survey: Path, sql: str, mean: float) -> None:
    """The noise at epsilon 5 is off by a tenth of the rows with a probability below 1e-9."""
    session = Session(survey, epsilon=5, randomness=SeededRandomness("1"))
    (total,) = session.query(sql).table.column(0).to_pylist()
    session.close()
    off = abs(float(total) - mean * ROWS)
    assert off < ROWS / 10, f"other integers than within the declared bounds: {off} off"


@pytest.mark.parametrize("table", ["answers", "low", "listed", "again", "computed"])
def test_no_bounds_are_suggested_of_randomised_answers(survey: Path, table: str) -> None:
    session = Session(survey, epsilon=5)
    with pytest.raises(Refused, match="score holds randomised answers"):
        session.query(f"SUGGEST BOUNDS score FROM {table}")
    session.close()


@pytest.mark.parametrize("table", ["answers", "low", "listed", "again", "computed"])
def test_bounds_are_suggested_beside_randomised_answers(survey: Path, table: str) -> None:
    session = Session(survey, epsilon=5)
    assert session.query(f"SUGGEST BOUNDS id FROM {table}").table.num_rows == 1
    session.close()
