"""A budget above ε = 64, where the owner says so."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from narrowed import number

import dpsql
from dpsql.errors import BudgetSpent

SCHEMA = """\
dataset: trial
source: data
ledger: ledger.sqlite
units: {person: {table: people, key: id}}
tables:
  people:
    unit: person
    key: id
    columns:
      id: {type: bigint}
      age: {type: integer, bounds: [0, 100]}
      town: {type: varchar}
budget: {epsilon: 500, allow_large_epsilon: true, BUDGET}
per_query: {epsilon: 400, max_epsilon: 500}
"""


@pytest.mark.parametrize(
    "budget",
    [
        "accounting: pure",
        "delta: 1e-6, accounting: approx",
        "delta: 1e-6, accounting: zcdp",
        "delta: 1e-6, accounting: gdp",
    ],
)
def test_answers_are_nearly_exact_and_charged(budget: str, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    ages = [n % 90 for n in range(500)]
    people = {"id": range(500), "age": ages, "town": ["a"] * 500}
    pq.write_table(pa.table(people), data / "people.parquet")
    (tmp_path / "schema.yaml").write_text(SCHEMA.replace("BUDGET", budget))
    with dpsql.connect(tmp_path / "schema.yaml") as connection:
        cursor = connection.execute("SELECT count(*), sum(age), avg(age), median(age) FROM people")
        ((count, total, mean, half),) = (map(number, row) for row in cursor.fetchall())
        # Noise of a count is no more than 1 but with probability below 1e-9.
        assert abs(count - 500) <= 1
        assert abs(total - sum(ages)) <= 200
        assert abs(mean - total / count) < 1
        assert abs(half - 43) <= 2
        assert cursor.privacy is not None
        with pytest.raises(BudgetSpent):
            connection.execute("SELECT count(*) FROM people WHERE age < 9 OPTIONS (epsilon = 450)")
