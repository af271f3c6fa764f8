"""Days and moments beyond the years of Python are NULL; nobody learns whether there is one."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest
from data.database import attached
from narrowed import integer

from dpsql.dbapi.connect import connect
from dpsql.dbapi.connection import Connection

FAR = ["DATE 'infinity'", "DATE '-infinity'", "DATE '4000-01-01 (BC)'", "DATE '20000-01-01'"]

SCHEMA = """
dataset: days
source: days.duckdb
ledger: ledger.sqlite
tables:
  visits:
    unit: row
    columns:
      day: {type: date}
      at: {type: timestamp}
      cost: {type: integer, bounds: [0, 9]}
  holidays:
    public: true
    columns:
      day: {type: date}
budget: {epsilon: 60, delta: 1.0e-3}
per_query: {epsilon: 2, max_epsilon: 2, delta: 1.0e-5}
"""


def connection(folder: Path, *far: str) -> Connection:
    with attached(folder / "days.duckdb") as made:
        made.execute(
            "CREATE TABLE visits AS SELECT DATE '2024-01-01' + (n % 3)::INTEGER AS day, "
            "day::TIMESTAMP AS at, (n % 10)::INTEGER AS cost FROM range(300) t(n)"
        )
        made.execute("CREATE TABLE holidays AS SELECT DATE '2024-01-01' AS day")
        for day in far:
            made.execute(f"INSERT INTO visits VALUES ({day}, {day}::TIMESTAMP, 1)")
            made.execute(f"INSERT INTO holidays VALUES ({day})")
    (folder / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    return connect(folder / "schema.yaml")


@pytest.mark.parametrize("far", FAR)
def test_a_far_day_of_one_unit_fails_no_statement(tmp_path: Path, far: str) -> None:
    keys = ("day", "at", "day + INTERVAL 1 DAY", "date_trunc('week', at)")
    with connection(tmp_path, far) as connected:
        for key in keys:
            for value in ("count(*)", "median(cost)", "count(DISTINCT cost)"):
                sql = f"SELECT {key} AS k, {value} FROM visits GROUP BY k"
                days = [day for day, _ in connected.execute(sql).fetchall()]
                # One unit passes the threshold with probability 10^-5 at most.
                assert days
                assert all(isinstance(day, dt.date) for day in days)


def test_far_days_that_many_share_are_one_group(tmp_path: Path) -> None:
    many = ["DATE 'infinity'", "DATE '20000-01-01'"] * 40
    with connection(tmp_path, *many) as connected:
        rows = connected.execute("SELECT day, count(*) FROM visits GROUP BY day").fetchall()
    # The noise of a count is farther than 40 from 0 with probability below 10^-15.
    (count,) = [count for day, count in rows if day is None]
    assert integer(count) > 40


def test_far_days_of_public_rows_and_of_what_is_computed_are_null(tmp_path: Path) -> None:
    with connection(tmp_path, *FAR) as connected:
        listed = connected.execute("SELECT day FROM holidays ORDER BY day").fetchall()
        later = connected.execute(
            "SELECT day, day + INTERVAL 9000 YEAR AS later FROM visits GROUP BY day"
        ).fetchall()
        joined = connected.execute(
            "SELECT h.day, count(*) FROM visits v JOIN holidays h ON v.day = h.day GROUP BY h.day"
        ).fetchall()
    assert {day for (day,) in listed} == {None, dt.date(2024, 1, 1)}
    assert len(later) >= 3
    assert {moment for _, moment in later} == {None}
    assert dt.date(2024, 1, 1) in {day for day, _ in joined}
