"""Answers about all rows of a table whose number is public."""

from __future__ import annotations

from pathlib import Path

import pytest
from data.database import attached
from privacy.seeded import SeededRandomness

from dpsql.session.answer.answer import Answer
from dpsql.session.session import Session

SCHEMA = """
dataset: sized
source: {source}
neighbors: change_one
tables:
  people:
    unit: row
    rows: {rows}
    columns:
      x: {{type: double, bounds: [-1000000, 1000000], nullable: false}}
      part: {{type: varchar, values: [a, b], nullable: false}}
budget: {{epsilon: 60, delta: 1.0e-6, accounting: approx}}
per_query: {{epsilon: 10, max_epsilon: 20}}
"""


def opened(folder: Path, rows: int) -> Session:
    """A hundred thousand values, evenly from -100,000 to 100,000."""
    source = folder / "data.duckdb"
    with attached(source) as connection:
        connection.execute(
            "CREATE OR REPLACE TABLE people AS SELECT i * 2.0 - 100000 AS x, 'a' AS part"
            " FROM range(100000) AS t(i)"
        )
    file = folder / "schema.yaml"
    file.write_text(SCHEMA.format(source=source, rows=rows))
    return Session(file, randomness=SeededRandomness("public rows"))


def values(answer: Answer) -> list[float]:
    """Those of the only row."""
    (row,) = answer.table.to_pylist()
    return list(row.values())


def test_the_number_is_exact_and_free(tmp_path: Path) -> None:
    answer = opened(tmp_path, 100_000).query("SELECT count(*), count(x) FROM people")
    assert values(answer) == [100_000, 100_000]
    assert answer.privacy.loss is None


def test_variances_come_out_of_numbers_that_take_a_hundred_bits(tmp_path: Path) -> None:
    # 10^5 rows and a width of 2·10^6 at ε = 10 in three statistics: the noise of the variance has a
    # scale of about 10^7, its value is 3.3·10^9; of the mean, 6 beside values of ±10^5. Seeded.
    answer = opened(tmp_path, 100_000).query(
        "SELECT dp_interval_low(var_pop(x)), var_pop(x), dp_interval_high(var_pop(x)),"
        " stddev_samp(x), avg(x) FROM people"
    )
    low, variance, high, deviation, mean = values(answer)
    truth = 4 * (100_000**2 - 1) / 12
    assert low < truth < high
    assert high - low < 0.1 * truth
    assert variance == pytest.approx(truth, rel=0.05)
    assert deviation == pytest.approx(truth**0.5, rel=0.05)
    assert abs(mean) < 200


@pytest.mark.parametrize("rows", [50_000, 200_000])
def test_a_wrong_number_makes_answers_wrong_and_nothing_else(tmp_path: Path, rows: int) -> None:
    answer = opened(tmp_path, rows).query("SELECT count(*), var_pop(x) FROM people")
    count, variance = values(answer)
    assert count == rows
    # As if of so many rows: of n there are, n/rows of it.
    assert variance == pytest.approx(4 * 100_000**2 / 12 * 100_000 / rows, rel=0.1)
