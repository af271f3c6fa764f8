"""Counts of distinct values are shown within what there can be, and stored as they were drawn."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from data.database import attached
from privacy.seeded import SeededRandomness

from dpsql.dbapi.connection import Connection
from dpsql.session.session import Session

SCHEMA = """
dataset: people
source: people.duckdb
units: {person: {table: people, key: id}}
tables:
  people:
    key: id
    unit: person
    columns:
      id: {type: bigint}
      region: {type: integer, bounds: [1, 40]}
      sex: {type: varchar, values: [F, M]}
      smokes: {type: boolean}
      born: {type: date, bounds: [2000-01-01, 2000-01-31]}
      weight: {type: double, bounds: [0, 300]}
budget: {epsilon: 10, delta: 1.0e-6, accounting: zcdp}
per_query: {epsilon: 0.1, max_epsilon: 1}
"""
BY_REGION = "SELECT region, count(DISTINCT sex) AS n FROM people GROUP BY region"


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Connection]:
    with attached(tmp_path / "people.duckdb") as source:
        source.execute(
            "CREATE TABLE people AS SELECT i::BIGINT AS id, (i % 40 + 1)::INTEGER AS region,"
            " ['F', 'M'][i % 2 + 1] AS sex, i % 3 = 0 AS smokes, DATE '2000-01-05' AS born,"
            " (i % 90)::DOUBLE AS weight FROM range(200) t(i)"
        )
    path = tmp_path / "schema.yaml"
    path.write_text(SCHEMA, encoding="utf-8")
    with Connection(Session(path, randomness=SeededRandomness("distinct"))) as found:
        yield found


def counts(connection: Connection, sql: str) -> list[int]:
    return [int(str(row[-1])) for row in connection.execute(sql).fetchall()]


def test_they_are_moved_into_their_range_after_they_were_stored(connection: Connection) -> None:
    clamped = counts(connection, BY_REGION)
    spent = connection.budget.dataset.epsilon_spent
    connection.execute("SET dpsql.clamped = off")
    drawn = counts(connection, BY_REGION)
    assert connection.budget.dataset.epsilon_spent == spent
    assert clamped == [min(max(count, 0), 2) for count in drawn]
    # Of 41 groups noise of a deviation of 40 puts most beyond, whatever it is.
    beyond = sum(not 0 <= count <= 2 for count in drawn)
    assert beyond > 5
    connection.execute("SET dpsql.clamped = DEFAULT")
    cursor = connection.execute(BY_REGION)
    assert cursor.privacy is not None
    assert any(
        f"0 to 2 distinct values, no more exist (dpsql.clamped): noise has put {beyond} of" in note
        for note in cursor.privacy.notes
    )


def test_their_errors_are_those_of_the_noise(connection: Connection) -> None:
    shown = connection.execute(BY_REGION).privacy
    drawn = connection.execute(f"{BY_REGION} OPTIONS (clamped = off)").privacy
    assert shown is not None
    assert drawn is not None
    assert shown.shown_columns == drawn.shown_columns


@pytest.mark.parametrize(
    ("argument", "values"),
    [("region", 40), ("smokes", 2), ("born", 31), ("region // 10", 5), ("sex || 'x'", None)],
)
def test_explain_tells_the_range_by_declared_values_alone(
    connection: Connection, argument: str, values: int | None
) -> None:
    text = str(connection.explain(f"SELECT count(DISTINCT {argument}) AS n FROM people"))
    assert (f"of 0 to {values} distinct values" in text) == (values is not None)
    assert "(dpsql.clamped)" not in str(
        connection.explain(f"SELECT count(DISTINCT {argument}) FROM people OPTIONS (clamped = off)")
    )


def test_conditions_narrow_it_and_other_columns_stay_as_they_were_drawn(
    connection: Connection,
) -> None:
    sql = "SELECT count(DISTINCT weight) AS w, count(*) AS n, count(DISTINCT id) AS u FROM people"
    assert "(dpsql.clamped)" not in str(connection.explain(f"{sql} WHERE weight > 250"))
    narrowed = "SELECT count(DISTINCT region) AS n FROM people WHERE region = 3"
    assert counts(connection, narrowed)[0] in {0, 1}
    above = f"SELECT max(n) - min(n) FROM ({BY_REGION})"
    assert 0 <= counts(connection, above)[0] <= 2
