"""What limits and bounds cut off rows on a server is what they cut off the same rows in a file."""

from __future__ import annotations

import secrets
from pathlib import Path

import pytest
from cli.cli_run import Run
from data.database import attached
from emit.spark_server import url
from engine.postgres_world import database

from dpsql.engine.spark.session import SparkServerSession

SCHEMA = """\
dataset: shop
source: {source}
version: 1
units: {{person: {{table: people{mark}, key: id}}}}
tables:
  people{mark}:
    key: id
    unit: person
    columns: {{id: {{type: bigint}}, age: {{type: integer, bounds: [18, 60]}}}}
  orders{mark}:
    unit: {{column: person, references: people{mark}.id}}
    limits: {{groups: 2, rows_per_group: 2, rows: 7}}
    columns:
      person: {{type: bigint}}
      town: {{type: varchar, values: [Bonn, Kiel, Ulm]}}
      paid: {{type: "decimal(12,2)", bounds: [0.1, 9.5]}}
      change: {{type: double, bounds: [-1, 2.25]}}
budget: {{epsilon: 1, delta: 1.0e-6}}
"""
PEOPLE = ", ".join(f"({n}, {n * 9})" for n in range(8))
TOWNS = ("NULL", "'Bonn'", "'Kiel'", "'Ulm'")
ORDERS = ", ".join(
    f"({'NULL' if n % 19 == 0 else n * (n + 1) // 2 % 8}, {TOWNS[n * n % 7 % 4]},"
    f" {'NULL' if n % 17 == 0 else f'{n * n}.{n % 90 + 10}'}, {(n - 30) / 7!r})"
    for n in range(60)
)
CHANGES = ("'nan'", "'infinity'", "1e300", "-1e-300", "0")


def fill(mark: str, decimal: str, bigint: str, text: str, double: str) -> list[str]:
    """The statements that make both tables, in the types of one engine."""
    extremes = ", ".join(f"(1, 'Ulm', 1.00, CAST({each} AS {double}))" for each in CHANGES)
    columns = f"person {bigint}, town {text}, paid {decimal}, change {double}"
    return [
        f"CREATE TABLE people{mark} (id {bigint}, age INTEGER)",
        f"INSERT INTO people{mark} VALUES {PEOPLE}",
        f"CREATE TABLE orders{mark} ({columns})",
        f"INSERT INTO orders{mark} VALUES {ORDERS}",
        f"INSERT INTO orders{mark} VALUES {extremes}",
    ]


def cuts(run: Run, folder: Path, source: str, mark: str) -> str:
    """What `dpsql check` says of cuts, with the tables' own names."""
    path = folder / "schema.yaml"
    path.write_text(SCHEMA.format(source=source, mark=mark), encoding="utf-8")
    told = run("check", path)
    assert told.code == 0, told.err
    lines = told.out.replace(mark, "").split("version: 1")[-1].splitlines()
    return "\n".join(
        " ".join(line.split()) for line in lines if line.startswith(("people ", "orders"))
    )


@pytest.fixture
def expected(run: Run, tmp_path: Path) -> str:
    mark = "_" + secrets.token_hex(4)
    folder = tmp_path / "file"
    folder.mkdir()
    with attached(folder / "shop.duckdb") as connection:
        for statement in fill(mark, "DECIMAL(12,2)", "BIGINT", "VARCHAR", "DOUBLE"):
            connection.execute(statement)
    told = cuts(run, folder, "shop.duckdb", mark)
    for limit in ("rows: 7", "rows_per_group: 2", "groups: 2"):
        assert f"orders: limit {limit} leaves out" in told
    assert "3 values of change are NaN or beyond 2^80" in told
    return told


def test_cuts_on_postgresql_are_those_in_a_file(run: Run, tmp_path: Path, expected: str) -> None:
    with database() as world:
        mark = "_" + secrets.token_hex(4)
        world.run(*fill(mark, "NUMERIC(12,2)", "BIGINT", "TEXT", "DOUBLE PRECISION"))
        world.run(f"ALTER TABLE people{mark} ADD PRIMARY KEY (id)")
        world.grant()
        assert cuts(run, tmp_path, world.url, mark) == expected


def test_cuts_on_spark_are_those_in_a_file(
    run: Run, tmp_path: Path, expected: str, owner: SparkServerSession
) -> None:
    mark = "_" + secrets.token_hex(4)
    try:
        for statement in fill(mark, "DECIMAL(12,2)", "BIGINT", "STRING", "DOUBLE"):
            owner.rows(statement)
        assert cuts(run, tmp_path, url(), mark) == expected
    finally:
        for table in ("people", "orders"):
            owner.rows(f"DROP TABLE IF EXISTS {table}{mark}")
