"""Estimates of groups whose rows may be noise are NULL; those of groups with rows are there."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from narrowed import integer

import dpsql

SCHEMA = """\
dataset: wards
source: data
ledger: ledger.sqlite
units: {person: {table: people, key: id}}
tables:
  people:
    unit: person
    key: id
    columns:
      id: {type: bigint, nullable: false}
      ward: {type: integer, bounds: [0, 39], nullable: false}
      age: {type: integer, bounds: [0, 100], nullable: false}
      kind: {type: varchar, values: [a, b], nullable: false}
budget: {epsilon: 60, delta: 1.0e-6}
per_query: {epsilon: 1}
"""
CHANCES = 6
"""An empty ward's noise passes its 95 % half-width from above in 2.5 % of draws: more than so many
of 20 do with probability below 1e-6."""

CALLS = "avg(age), stddev(age), corr(age, id % 50), median(age), mode(kind), max(age)"


@pytest.fixture
def connection(tmp_path: Path) -> dpsql.Connection:
    """Twenty wards with 200 people each, and twenty without any."""
    (tmp_path / "data").mkdir()
    numbers = range(4000)
    people = {
        "id": numbers,
        "ward": [n % 20 for n in numbers],
        "age": [n % 90 for n in numbers],
        "kind": ["ab"[n % 2] for n in numbers],
    }
    pq.write_table(pa.table(people), tmp_path / "data" / "people.parquet")
    (tmp_path / "schema.yaml").write_text(SCHEMA)
    return dpsql.connect(tmp_path / "schema.yaml")


def test_few_rows_have_no_estimate(connection: dpsql.Connection) -> None:
    sql = f"SELECT ward, count(*), {CALLS} FROM people GROUP BY ward ORDER BY ward"
    rows = connection.execute(f"{sql} OPTIONS (epsilon = 20)").fetchall()
    assert len(rows) == 40
    for row in rows[:20]:
        assert None not in row
    empty = [row for row in rows[20:] if set(row[2:]) == {None}]
    assert len(empty) >= 20 - CHANCES
    # A mean is there if and only if a median is: one count decides on both.
    assert all((row[2] is None) == (row[5] is None) for row in rows)


def test_a_rank_by_a_mean_has_groups_with_rows_first(connection: dpsql.Connection) -> None:
    sql = "SELECT ward FROM people GROUP BY ward ORDER BY avg(age) DESC LIMIT 20"
    found = connection.execute(f"{sql} OPTIONS (epsilon = 20)").fetchall()
    assert sum(integer(ward) >= 20 for (ward,) in found) <= CHANCES


def test_without_a_count_beside_it_a_quantile_is_shown(connection: dpsql.Connection) -> None:
    rows = connection.execute("SELECT ward, median(age) FROM people GROUP BY ward").fetchall()
    assert None not in [median for _, median in rows]
