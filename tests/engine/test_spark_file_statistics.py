"""What files say of their values decides about no row on Spark: it is made of other rows, too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing

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
TABLES: Mapping[str, Sequence[float]] = {
    "beside_50": [NAN] * 5 + [50.0],
    "beside_150": [NAN] * 5 + [50.0, 150.0],
    "beside_less": [NAN] * 5 + [50.0, -50.0],
    "zero": [0.0] * 3 + [7.0],
    "minus_zero": [-0.0] * 3 + [7.0],
    "pages": [NAN if 1024 <= n < 2048 or n % 1000 == 500 else 50.0 for n in range(4096)],
}
SCHEMA = """
dataset: readings
source: {url}/;folder={folder}
version: 1
units: {{person: {{table: people, key: id}}}}
tables:
  people: {{unit: person, key: id, columns: {{id: {{type: bigint}}}}}}
{tables}
budget: {{epsilon: 60, delta: 1.0e-3, accounting: zcdp}}
"""
TABLE = """
  {name}:
    unit: {{column: person, references: people.id}}
    limits: {{groups: 1, rows_per_group: 100, rows: 100}}
    columns: {{person: {{type: bigint}}, x: {{type: double}}}}
"""


@pytest.fixture(scope="module")
def readings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """A session over Parquet files of `TABLES`, each row of another person."""
    folder = tmp_path_factory.mktemp("readings")
    persons = pa.array(range(max(map(len, TABLES.values()))), pa.int64())
    pq.write_table(pa.table({"id": persons}), folder / "people.parquet")
    for name, values in TABLES.items():
        columns = {"person": persons[: len(values)], "x": pa.array(values, pa.float64())}
        # Pages have a least and a greatest value of their own in a file's index.
        how = {"data_page_size": 1024, "write_batch_size": 256} if name == "pages" else {}
        has_index = name == "pages"
        pq.write_table(
            pa.table(columns),
            folder / f"{name}.parquet",
            use_dictionary=not has_index,
            write_page_index=has_index,
            **how,
        )
    tables = "".join(TABLE.format(name=name) for name in TABLES)
    path = folder / "schema.yaml"
    path.write_text(SCHEMA.format(url=url(), folder=folder, tables=tables), encoding="utf-8")
    with closing(Session(load_schema(path))) as session:
        yield session


def counted(session: Session, table: str, condition: str) -> int:
    """How many rows of a table satisfy the condition."""
    ready = session.compile(f"SELECT count(*) AS n FROM {table} WHERE {condition}")
    (rows,) = exact(ready, session).values()
    return int(rows.column(0)[0].as_py())


@pytest.mark.parametrize("condition", CONDITIONS)
def test_rows_of_nan_are_found_whatever_one_other_person_has(
    readings: Session, condition: str
) -> None:
    """A file's least and greatest value leave NaN out, and Spark passed over all of its rows."""
    among = f"({condition}) AND x NOT IN (50, 150, -50)"
    for table in ("beside_50", "beside_150", "beside_less"):
        assert counted(readings, table, among) == 5, f"one row decides about rows of NaN: {table}"


@pytest.mark.parametrize("table", ["zero", "minus_zero"])
def test_both_zeros_are_found(readings: Session, table: str) -> None:
    """A file's list of values has one zero, of which a condition may ask the other."""
    conditions = ("x = 0", "x = -0.0", "x IN (0, 1)")
    assert [counted(readings, table, each) for each in conditions] == [3, 3, 3]


def test_rows_of_nan_are_found_in_each_page(readings: Session) -> None:
    expected = sum(value != 50 for value in TABLES["pages"])
    found = [counted(readings, "pages", condition) for condition in ("x > 100", "x <> 50")]
    assert found == [expected, expected]


def test_no_old_day_fails_a_statement() -> None:
    """Under EXCEPTION, one day before 1582 in a file that Spark didn't write would fail all."""
    for kind in ("datetime", "int96"):
        assert SETTINGS[f"spark.sql.parquet.{kind}RebaseModeInRead"] == "CORRECTED"
