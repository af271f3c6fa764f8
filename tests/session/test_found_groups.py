"""Groups that nobody has are no rows of what reads a release, and are shown at the top."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from data.database import attached

from dpsql.session.session import Session

LISTED = 200
SCHEMA = f"""\
dataset: people
source: people.duckdb
ledger: ledger.db
tables:
  people:
    unit: row
    columns:
      place: {{type: integer, values: {list(range(LISTED))}}}
      pay: {{type: integer, bounds: [0, 1000]}}
budget: {{epsilon: 64, accounting: pure}}
"""
MOST_BY_CHANCE = 30
"""Of 199 empty groups, each passes with a chance of 1/40 at most: more than so many, 1e-13."""


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Session:
    monkeypatch.setenv("DPSQL_STATE", str(tmp_path / "state"))
    with attached(tmp_path / "people.duckdb") as made:
        made.execute(
            "CREATE TABLE people AS SELECT CAST(i % 2 AS INTEGER) AS place, 500 AS pay "
            "FROM range(4000) t(i)"
        )
    (tmp_path / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    return Session(tmp_path / "schema.yaml", epsilon=Fraction(2))


def rows(session: Session, sql: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = session.query(sql).table.to_pylist()
    return found


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) AS n FROM (SELECT place, count(*) AS c FROM people GROUP BY place) t",
        "SELECT count(*) AS n FROM (SELECT place, sum(pay) AS s FROM people GROUP BY place) t",
        "SELECT count(*) AS n FROM (SELECT DISTINCT place FROM people WHERE pay > 10) t",
        (
            "SELECT count(*) AS n FROM range(200) g(k) JOIN "
            "(SELECT place, avg(pay) AS a FROM people GROUP BY place) t ON t.place = g.k"
        ),
    ],
)
def test_empty_groups_are_no_rows_of_what_reads_them(session: Session, sql: str) -> None:
    ((found,),) = (row.values() for row in rows(session, sql))
    assert isinstance(found, int)
    assert 2 <= found <= 2 + MOST_BY_CHANCE


def test_an_average_over_groups_is_of_those_that_are_there(session: Session) -> None:
    sql = "SELECT avg(c) AS mean FROM (SELECT place, count(*) AS c FROM people GROUP BY place) t"
    ((mean,),) = (row.values() for row in rows(session, sql))
    assert isinstance(mean, float)
    assert mean > 2 * 2000 / (2 + MOST_BY_CHANCE)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT place, count(*) AS c FROM people GROUP BY place",
        "SELECT * FROM (SELECT place, count(*) AS c FROM people GROUP BY place) t ORDER BY c",
        "SELECT DISTINCT place FROM people",
    ],
)
def test_all_listed_groups_are_shown_at_the_top(session: Session, sql: str) -> None:
    assert len(rows(session, sql)) == LISTED + 1  # and NULL
