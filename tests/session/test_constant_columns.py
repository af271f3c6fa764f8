"""A value that all rows share may fail in what is computed: each row still counts as it does.

DuckDB reads a column of a file as constant where all rows of a segment have one value, and loses
rows where what a join looks up by, or what is computed of its rows, fails for a constant. One row
with another value has them back, so that neighbours differed by nearly all of their rows.
"""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from narrowed import integer

from dpsql.dbapi.connect import connect

ROWS = 3000

SCHEMA = """
dataset: meters
source: meters.duckdb
ledger: ledger.sqlite
units:
  home: {table: homes, key: home}
tables:
  homes:
    key: home
    unit: home
    columns:
      home: {type: bigint}
  readings:
    unit: {column: home, references: homes.home}
    limits: {groups: 1, rows_per_group: 1, rows: 1}
    columns:
      x: {type: integer}
      home: {type: bigint}
  visits:
    unit: row
    limits: {groups: 1, rows_per_group: 1, rows: 1}
    columns:
      x: {type: integer}
      v: {type: integer}
  levels:
    public: true
    columns:
      k: {type: integer}
budget: {epsilon: 64, delta: 1.0e-3}
per_query: {epsilon: 2, max_epsilon: 2, delta: 1.0e-5}
"""

STATEMENTS = [
    "SELECT count(nullif(x, v)) FROM visits JOIN levels ON k = coalesce(x + x, 1)",
    "SELECT count(nullif(x, k)) FROM visits, levels WHERE k = coalesce(x * x + v, 1)",
    "SELECT count(nullif(x, k)) FROM visits LEFT JOIN levels ON k = coalesce(x + x, 1)",
    "SELECT count(*) FROM visits WHERE coalesce(x + x, 1) IN (SELECT k FROM levels)",
    # What is only counted is computed of joined rows.
    "SELECT count(nullif(coalesce(x * x, 2), v)) FROM visits WHERE x IN (SELECT k FROM levels)",
    "SELECT count(nullif(coalesce(x * x, 2), v)) FROM visits JOIN levels ON k = x",
    """SELECT count(nullif(coalesce(x * x, 2), v)) FROM visits
        WHERE EXISTS (SELECT 1 FROM levels WHERE k = x AND k > 9)""",
    "SELECT count(nullif(x, k)) FROM readings JOIN levels ON k = coalesce(x + x, 1)",
    """SELECT count(nullif(x, r)) FROM (
        SELECT x, count(*) OVER (PARTITION BY x + x, home) AS r FROM readings
    ) t""",
    """SELECT count(nullif(x, r)) FROM (
        SELECT x, count(*) OVER (PARTITION BY home ORDER BY x + x) AS r FROM readings
    ) t""",
]


def counts(folder: Path, *, neighbour: bool) -> list[int]:
    folder.mkdir()
    with duckdb.connect(str(folder / "meters.duckdb")) as made:
        largest = f"SELECT 2147483647::INTEGER AS x, n::INTEGER AS v FROM range({ROWS}) t(n)"
        another = " UNION ALL SELECT 5, -1" if neighbour else ""
        made.execute(f"CREATE TABLE visits AS {largest}{another}")
        made.execute("CREATE TABLE readings AS SELECT x, v::BIGINT AS home FROM visits")
        made.execute("CREATE TABLE homes AS SELECT home FROM readings")
        made.execute("CREATE TABLE levels AS SELECT unnest([0, 1, 2, 3, 2147483647]) AS k")
        made.execute("CHECKPOINT")
    (folder / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    with connect(folder / "schema.yaml") as connected:
        return [integer(connected.execute(sql).fetchall()[0][0]) for sql in STATEMENTS]


def test_rows_whose_common_value_fails_are_met_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for neighbour in (False, True):
        monkeypatch.setenv("DPSQL_STATE", str(tmp_path / f"state {neighbour}"))
        # A count's noise is beyond 20 with probability below 10^-17.
        for sql, count in zip(
            STATEMENTS, counts(tmp_path / f"{neighbour}", neighbour=neighbour), strict=True
        ):
            assert abs(count - ROWS) <= 20, sql
