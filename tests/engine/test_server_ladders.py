"""From a source on a server to answers without a limit, by `dpsql init --calibrate`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from cli.cli_run import Run
from cli.test_cli_calibrate import FLIGHTS
from data.database import attached
from emit.spark_server import url
from engine.postgres_world import PASSWORD, database
from neighbor_search.share import in_turn

from dpsql.dbapi.connection import Connection
from dpsql.errors import Refused
from dpsql.session.session import Session


@pytest.fixture(scope="module")
def flights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """350,000 flights of 10,000 planes, as a Parquet file and as rows of a text."""
    folder = tmp_path_factory.mktemp("flights")
    with attached() as connection:
        connection.execute(FLIGHTS.replace("range(20000)", "range(10000)"))
        connection.execute(f"COPY flights TO '{folder}/flights.parquet'")
        connection.execute(f"COPY flights TO '{folder}/rows.csv' (HEADER false)")
    return folder


@pytest.fixture(scope="module")
def on_postgres(flights: Path) -> Iterator[str]:
    with database() as world:
        world.run("CREATE TABLE flights (tailnum text NOT NULL, origin text, distance bigint)")
        with (
            world.owner.cursor() as cursor,
            cursor.copy("COPY flights FROM STDIN (FORMAT csv)") as copy,
        ):
            copy.write((flights / "rows.csv").read_bytes())
        world.grant()
        yield world.url


def has_answers(run: Run, source: str, schema: Path, flights: Path) -> None:
    """Noise is beyond half of what is allowed for with a probability below 10^-6."""
    asked = ("--unit", "flights=tailnum", "--by", "flights=origin", "--yes")
    made = run("init", source, "-o", schema, "--calibrate", "0.4", *asked)
    assert made.code == 0, made.err
    form = yaml.safe_load(schema.read_text())
    assert form["tables"]["flights"]["limits"] == "calibrated"
    query = "SELECT origin, count(*) AS n FROM flights GROUP BY origin"
    answered = run("query", schema, query, "--format", "json", "--epsilon", "0.7")
    assert answered.code == 0, answered.err
    assert "limits leave out" in answered.err
    counts = {row["origin"]: row["n"] for row in json.loads(answered.out)}
    with attached() as connection:
        true = f"SELECT origin, count(*) FROM '{flights}/flights.parquet' GROUP BY origin"
        expected = dict(connection.execute(true).fetchall())
    assert counts == pytest.approx(expected, rel=0.15)
    by = ("--measure", "distance", "--by", "origin", "--epsilon", "0.2", "--yes")
    drawn = run("calibrate", schema, "flights", *by)
    assert drawn.code == 0, drawn.err
    query = "SELECT origin, sum(distance) AS s FROM flights GROUP BY origin"
    summed = run("query", schema, query, "--format", "json", "--epsilon", "0.4")
    assert summed.code == 0, summed.err
    assert len(json.loads(summed.out)) == 3
    suggested = run("query", schema, "SUGGEST BOUNDS distance FROM flights", "--format", "json")
    assert suggested.code == 0, suggested.err
    assert json.loads(suggested.out)[0]["dp_high"] in {1024, 2048}


def test_flights_on_postgresql_have_answers(
    run: Run, on_postgres: str, flights: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    has_answers(run, on_postgres, tmp_path / "schema.yaml", flights)


@pytest.mark.in_turn
def test_flights_on_spark_have_answers(run: Run, flights: Path, tmp_path: Path) -> None:
    has_answers(run, f"{url()}/;folder={flights}", tmp_path / "schema.yaml", flights)


SCHEMA = """\
dataset: flights
source: {source}
version: 1
push_down: always
units: {{plane: {{table: flights, key: tailnum}}}}
tables:
  flights:
    unit: plane
    limits: {limits}
    columns: {{tailnum: {{type: varchar}}, origin: {{type: varchar}}, distance: {{type: bigint}}}}
budget: {{epsilon: 10, delta: 1.0e-6}}
"""


@pytest.mark.parametrize(
    "limits",
    in_turn(((s, (s,)) for s in ("{calibrated: true, over_groups: scale}", "calibrated")), 2),
)
def test_postgresql_computes_ladders_and_what_they_limit(
    computed: list[str], on_postgres: str, tmp_path: Path, limits: str
) -> None:
    path = tmp_path / "schema.yaml"
    path.write_text(SCHEMA.format(source=on_postgres, limits=limits))
    connection = Connection(Session(path, analyst="analyst"))
    connection.execute("CALIBRATE flights BY origin, distance FOR 1")
    assert len(computed) == 3  # of a unit's groups, their number, and of rows in each
    connection.execute("CALIBRATE flights MEASURE distance * 2 FOR 1")
    connection.execute("SELECT sum(distance * 2) FROM flights")
    connection.execute("SELECT distance, count(*) FROM flights GROUP BY distance")
    connection.execute("SUGGEST BOUNDS distance FROM flights")
    assert len(computed) >= 3 + 1 + 1 + 1 + 3
    connection.close()


def test_a_part_that_spark_refuses_is_refused_before_any_is_charged(
    flights: Path, tmp_path: Path
) -> None:
    """The keys' number is asked for after the groups of a unit; no engine's text is a double's."""
    path = tmp_path / "schema.yaml"
    text = SCHEMA.format(source=f"{url()}/;folder={flights}", limits="calibrated")
    path.write_text(text.replace("push_down: always\n", ""))
    connection = Connection(Session(path, analyst="analyst"))
    with pytest.raises(Refused, match="DOUBLE to VARCHAR is not computed on Spark"):
        connection.execute("CALIBRATE flights BY distance / 8 FOR 1")
    assert connection._session.balance().spent.amount == 0
    connection.close()
