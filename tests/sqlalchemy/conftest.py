"""An engine on visits to a clinic, two thousand by as many people."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from data.database import attached

SCHEMA = """\
dataset: clinic
source: clinic.duckdb
units:
  person: {table: people, key: id}
tables:
  people:
    key: id
    unit: person
    comment: everybody who came
    columns:
      id: {type: bigint}
      town: {type: varchar, values: [Aachen, Bonn], comment: where they live}
      joined: {type: date, bounds: [2024-01-01, 2024-12-31], nullable: false}
      seen: {type: timestamp, bounds: [2024-01-01, 2024-12-31]}
      cost: {type: "decimal(8,2)", bounds: [0, 100], nullable: false}
      weight: {type: double, bounds: [0, 200]}
      smokes: {type: boolean}
      age: {type: smallint, bounds: [0, 120]}
      "much": {type: hugeint, bounds: [0, 9]}
  towns: {public: true, key: town}
budget: {epsilon: 64, delta: 1e-6}
per_query: {epsilon: 1, max_epsilon: 10}
"""
PEOPLE = """
CREATE TABLE people AS SELECT i::BIGINT AS id, ['Aachen', 'Bonn'][1 + i % 2] AS town,
    DATE '2024-01-01' + (i % 366)::INTEGER AS joined, '2024-01-01'::TIMESTAMP AS seen,
    (i % 100)::DECIMAL(8,2) AS cost, (i % 90)::DOUBLE AS weight, i % 3 = 0 AS smokes,
    (i % 80)::SMALLINT AS age, (i % 10)::HUGEINT AS much FROM range(2000) AS t(i)
"""
TOWNS = "CREATE TABLE towns AS SELECT * FROM (VALUES ('Aachen', 1), ('Bonn', 2)) AS t(town, n)"


@pytest.fixture
def url(tmp_path: Path) -> str:
    with attached(tmp_path / "clinic.duckdb") as connection:
        connection.execute(PEOPLE)
        connection.execute(TOWNS)
    path = tmp_path / "schema.yaml"
    path.write_text(SCHEMA)
    return f"dpsql:///{path}?analyst=alice&epsilon=2"


@pytest.fixture
def engine(url: str) -> Iterator[sa.engine.Engine]:
    engine = sa.create_engine(url)
    yield engine
    engine.dispose()
