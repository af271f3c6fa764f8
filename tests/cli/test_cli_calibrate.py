"""`dpsql calibrate` and `dpsql init --calibrate`: from a source to answers, without a limit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from cli.cli_run import Run
from data.database import attached

FLIGHTS = """
CREATE TABLE flights AS
SELECT 'N' || plane AS tailnum, ['EWR', 'JFK', 'LGA'][1 + (plane * 7 + number) % 3] AS origin,
  (200 + 13 * (number % 50))::BIGINT AS distance
FROM range(20000) a(plane), range(200) b(number)
WHERE number < 5 + 150 * power((plane % 100) / 100, 4)
"""


@pytest.fixture
def flights(tmp_path: Path) -> Path:
    """About 700,000 flights of 20,000 planes: half have ten or fewer, the busiest 150."""
    path = tmp_path / "flights.duckdb"
    with attached(path) as connection:
        connection.execute(FLIGHTS)
    return path


def true_counts(flights: Path) -> dict[str, int]:
    with attached(flights, read_only=True) as connection:
        rows = connection.execute("SELECT origin, count(*) FROM flights GROUP BY 1").fetchall()
    return {str(origin): int(count) for origin, count in rows}


def test_a_newcomer_has_answers_within_a_tenth_and_typed_no_limit(
    run: Run, flights: Path, tmp_path: Path
) -> None:
    """Noise is beyond a fifth of what is allowed for with a probability below 10^-6."""
    schema = tmp_path / "schema.yaml"
    asked = ("--unit", "flights=tailnum", "--by", "flights=origin", "--yes")
    made = run("init", flights, "-o", schema, "--calibrate", "0.4", *asked)
    assert made.code == 0, made.err
    assert "price: epsilon = 0.4 in all" in made.err
    written = yaml.safe_load(schema.read_text())
    assert written["tables"]["flights"]["limits"] == "calibrated"
    query = "SELECT origin, count(*) AS n FROM flights GROUP BY origin"
    answered = run("query", schema, query, "--format", "json", "--epsilon", "0.8")
    assert answered.code == 0, answered.err
    assert "limits leave out" in answered.err
    counts = {row["origin"]: row["n"] for row in json.loads(answered.out)}
    for origin, count in true_counts(flights).items():
        assert counts[origin] == pytest.approx(count, rel=0.1), origin


def test_without_a_terminal_what_is_asked_has_to_be_said(
    run: Run, flights: Path, tmp_path: Path
) -> None:
    schema = tmp_path / "schema.yaml"
    nobody = run("init", flights, "-o", schema, "--calibrate", "0.5", "--yes")
    assert nobody.code == 2
    assert "--unit flights=COLUMN" in nobody.err
    unpaid = run("init", flights, "-o", schema, "--calibrate", "0.5", "--unit", "flights=tailnum")
    assert unpaid.code == 2
    assert "--yes" in unpaid.err
    wrong = run(
        "init", flights, "-o", schema, "--calibrate", "0.5", "--unit", "flights=wings", "--yes"
    )
    assert wrong.code == 2
    assert "has no column wings" in wrong.err


@pytest.mark.parametrize(
    "arguments",
    [("--unit", "flights=row"), ("--by", "flights=origin"), ("--yes",)],
)
def test_what_goes_with_ladders_is_refused_without_them(
    run: Run, flights: Path, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    ended = run("init", flights, "-o", tmp_path / "schema.yaml", *arguments)
    assert ended.code == 2
    assert "--calibrate" in ended.err


def test_ladders_of_all_tables_are_told_and_drawn_for_one_price(
    run: Run, flights: Path, tmp_path: Path
) -> None:
    schema = tmp_path / "schema.yaml"
    run("init", flights, "-o", schema, "--calibrate", "0.3", "--unit", "flights=row", "--yes")
    unasked = run("calibrate", schema, "--epsilon", "0.2")
    assert unasked.code == 2
    prices = {
        statement: float(price)
        for statement, price in (line.split(" FOR ") for line in unasked.out.splitlines())
    }
    # Under zcdp losses grow as squares: four fifths and one fifth of ρ are more than that of ε.
    assert prices["CALIBRATE flights MEASURE distance"] == pytest.approx(0.2 / 5**0.5, rel=0.07)
    assert prices["CALIBRATE flights"] == pytest.approx(0.2 * 0.8**0.5, rel=0.07)
    drawn = run("calibrate", schema, "--epsilon", "0.2", "--yes")
    assert drawn.code == 0, drawn.err
    assert "half up to" in drawn.out
    asked = ("--measure", "distance / 2", "--by", "origin", "--epsilon", "0.1", "--yes")
    named = run("calibrate", schema, "flights", *asked)
    assert named.code == 0, named.err
    loose = run("calibrate", schema, "--measure", "distance", "--yes")
    assert loose.code == 2
    assert "name the TABLE" in loose.err


def test_tables_whose_limits_are_declared_are_left_out(
    run: Run, flights: Path, tmp_path: Path
) -> None:
    schema = tmp_path / "schema.yaml"
    run("init", flights, "-o", schema, "--calibrate", "0.3", "--unit", "flights=row", "--yes")
    schema.write_text(schema.read_text().replace("limits: calibrated", "limits: {rows: 9}"))
    ended = run("calibrate", schema, "--yes")
    assert ended.code == 2
    assert "no table says" in ended.err
