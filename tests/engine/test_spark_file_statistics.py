"""What files say of their values decides about no row on Spark: it is made of other rows, too."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from emit.spark_server import url
from engine.test_spark_source import exact

from dpsql.engine.spark.connection import SETTINGS
from dpsql.schema.load.load import load_schema
from dpsql.session.session import Session

pytestmark = pytest.mark.bounds

NAN = float("nan")
CONDITIONS = (
    "x > 100",
    "x >= 100",
    "x <> 50",
    "NOT x < 100",
    "x > 100 OR x = 3",
    "x NOT IN (1, 2)",
)
SCHEMA = """
dataset: readings_{name}
source: {url}/;folder={folder}
version: 1
units: {{person: {{table: people, key: id}}}}
tables:
  people: {{unit: person, key: id, columns: {{id: {{type: bigint}}}}}}
  readings:
    unit: {{column: person, references: people.id}}
    limits: {{groups: 1, rows_per_group: 100, rows: 100}}
    columns: {{person: {{type: bigint}}, x: {{type: double}}}}
budget: {{epsilon: 60, delta: 1.0e-3, accounting: zcdp}}
"""


def counted(
    folder: Path, values: Sequence[float], conditions: Sequence[str], **how: object
) -> list[int]:
    """How many rows of a file of `values`, each of another person, satisfy each condition."""
    persons = pa.array(range(len(values)), pa.int64())
    pq.write_table(pa.table({"id": persons}), folder / "people.parquet")
    rows = pa.table({"person": persons, "x": pa.array(values, pa.float64())})
    pq.write_table(rows, folder / "readings.parquet", **how)
    path = folder / "schema.yaml"
    path.write_text(SCHEMA.format(name=folder.name, url=url(), folder=folder), encoding="utf-8")
    counts = []
    with closing(Session(load_schema(path))) as session:
        for condition in conditions:
            ready = session.compile(f"SELECT count(*) AS n FROM readings WHERE {condition}")
            (table,) = exact(ready, session).values()
            counts.append(int(table.column(0)[0].as_py()))
    return counts


def test_rows_of_nan_are_found_whatever_one_other_person_has(tmp_path: Path) -> None:
    """A file's least and greatest value leave NaN out, and Spark passed over all of its rows."""
    among = [f"({condition}) AND x NOT IN (50, 150, -50)" for condition in CONDITIONS]
    for beside in ([50.0], [50.0, 150.0], [50.0, -50.0]):
        found = counted(tmp_path, [NAN] * 5 + beside, among)
        assert found == [5] * len(among), f"one row decides about rows of NaN: {beside}"


@pytest.mark.parametrize("least", [0.0, -0.0])
def test_both_zeros_are_found(tmp_path: Path, least: float) -> None:
    """A file's list of values has one zero, of which a condition may ask the other."""
    found = counted(tmp_path, [least] * 3 + [7.0], ["x = 0", "x = -0.0", "x IN (0, 1)"])
    assert found == [3, 3, 3]


def test_rows_of_nan_are_found_in_each_page(tmp_path: Path) -> None:
    """Pages have a least and a greatest value of their own in a file's index."""
    values = [NAN if 1024 <= row < 2048 or row % 1000 == 500 else 50.0 for row in range(4096)]
    pages = {"data_page_size": 1024, "write_batch_size": 256, "use_dictionary": False}
    expected = sum(value != 50 for value in values)
    found = counted(tmp_path, values, ["x > 100", "x <> 50"], write_page_index=True, **pages)
    assert found == [expected, expected]


def test_no_old_day_fails_a_statement() -> None:
    """Under EXCEPTION, one day before 1582 in a file that Spark didn't write would fail all."""
    for kind in ("datetime", "int96"):
        assert SETTINGS[f"spark.sql.parquet.{kind}RebaseModeInRead"] == "CORRECTED"
