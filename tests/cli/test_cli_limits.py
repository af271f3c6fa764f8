"""An answer names the default limits that may bind; the owner is told what each leaves out."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from cli.cli_run import Run

SCHEMA = """\
dataset: flights
source: data
units: {plane: {table: planes, key: tail}}
tables:
  planes:
    key: tail
    unit: plane
    columns: {tail: {type: varchar}, seats: {type: integer, bounds: [0, 400]}}
  flights:
    unit: {column: tail, references: planes.tail}
    columns:
      tail: {type: varchar}
      origin: {type: varchar, values: [EWR, JFK]}
      hour: {type: integer, values: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]}
budget: {epsilon: 10, delta: 1.0e-6}
per_query: {epsilon: 1}
"""

TOTAL = (
    "flights: by default at most 64 rows of a unit count; what that leaves out is in no ±"
    " (limits: {rows: …} in the schema)"
)
BY_COLUMN = (
    "flights: limit rows_per_group: 8 (default) leaves out 86.7 % of its rows by origin,"
    " 20 % by hour"
)
MARK = "by default at most"


@pytest.fixture
def flights(tmp_path: Path) -> Path:
    """20 planes with 120 flights each: 60 from each airport, 10 in each hour."""
    (tmp_path / "data").mkdir()
    tails = [f"N{n}" for n in range(20)]
    planes = "\n".join(["tail,seats", *(f"{tail},100" for tail in tails)])
    (tmp_path / "data" / "planes.csv").write_text(planes + "\n")
    rows = [
        f"{tail},{'EWR' if n % 2 else 'JFK'},{n // 10}"
        for tail, n in itertools.product(tails, range(120))
    ]
    (tmp_path / "data" / "flights.csv").write_text("\n".join(["tail,origin,hour", *rows, ""]))
    path = tmp_path / "schema.yaml"
    path.write_text(SCHEMA)
    return path


def notes(run: Run, schema: Path, sql: str) -> list[str]:
    return [line for line in run("query", schema, sql).err.splitlines() if MARK in line]


def test_an_answer_names_the_defaults_that_may_bind(run: Run, flights: Path) -> None:
    assert notes(run, flights, "SELECT count(*) FROM flights") == [TOTAL]
    (by_origin,) = notes(run, flights, "SELECT origin, count(*) FROM flights GROUP BY origin")
    assert "at most 8 rows of a unit count in each group;" in by_origin
    (by_hour,) = notes(run, flights, "SELECT hour, count(*) FROM flights GROUP BY hour")
    assert "at most 8 groups of a unit count, and 8 of its rows in each;" in by_hour
    # A quantile counts rows, too.
    assert notes(run, flights, "SELECT median(hour) FROM flights")


def test_an_answer_names_no_limit_that_leaves_nothing_out_or_was_chosen(
    run: Run, flights: Path
) -> None:
    assert notes(run, flights, "SELECT count(*) FROM planes") == []
    assert notes(run, flights, "SELECT count(DISTINCT tail) FROM flights") == []
    chosen = "limits: {groups: 12, rows_per_group: 8, rows: 120}"
    text = SCHEMA.replace("planes.tail}", f"planes.tail}}\n    {chosen}")
    flights.write_text(text)
    assert notes(run, flights, "SELECT origin, count(*) FROM flights GROUP BY origin") == []


def test_the_same_is_told_of_an_answer_that_is_given_again(run: Run, flights: Path) -> None:
    sql = "SELECT count(*) FROM flights"
    assert notes(run, flights, sql) == notes(run, flights, sql) != []


def test_check_tells_the_owner_what_part_each_limit_leaves_out(run: Run, flights: Path) -> None:
    lines = [line for line in run("check", flights).out.splitlines() if "leaves out" in line]
    assert lines == [
        "flights: limit rows: 64 (default) leaves out 46.7 % of its rows in total",
        BY_COLUMN,
        "flights: limit groups: 8 (default) leaves out 33.3 % of its rows by hour",
    ]
    assert "declare limits:" in run("check", flights).out


def test_check_says_nothing_of_limits_that_cut_nothing(run: Run, flights: Path) -> None:
    chosen = "limits: {groups: 12, rows_per_group: 60, rows: 120}"
    flights.write_text(SCHEMA.replace("planes.tail}", f"planes.tail}}\n    {chosen}"))
    assert "leaves out" not in run("check", flights).out


def test_check_tells_that_scaled_units_lose_no_more_than_drawn(run: Run, flights: Path) -> None:
    """Each plane keeps √(8/12) of its flights by hour, and 8/12 where groups are drawn."""
    chosen = "limits: {groups: 8, rows_per_group: 60, rows: 120, over_groups: scale}"
    flights.write_text(SCHEMA.replace("planes.tail}", f"planes.tail}}\n    {chosen}"))
    told = run("check", flights).out
    assert "flights: limit groups: 8 leaves out at most 33.3 % of its rows by hour" in told
    assert "at most 33.3 %  20 of 20" in told
