"""No moment of a Parquet file fails the statements that read it, which would tell of a row."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpsql.engine.duckdb.engine import DuckDBEngine
from dpsql.engine.source import FAILING_MOMENTS, DuckDBSource, SourceTable
from dpsql.errors import SchemaFault, SourceFault
from dpsql.schema.load.load import load_schema
from dpsql.schema.load.table_section.column_types import engine_source

SCHEMA = """
dataset: people
source: .
units: {person: {table: people, key: person}}
tables:
  people:
    unit: person
    columns: {person: {type: bigint}, seen: {}}
budget: {epsilon: 1}
"""

FAR = 2**62
UTC = "UTC"


def write(folder: Path, kind: pa.DataType, moments: list[int], **how: object) -> Path:
    """A folder with a schema, and the file `people.parquet`."""
    columns = {
        "person": pa.array(range(len(moments)), pa.int64()),
        "seen": pa.array(moments, pa.int64()).view(kind),
    }
    pq.write_table(pa.table(columns), folder / "people.parquet", **how)
    path = folder / "schema.yaml"
    path.write_text(SCHEMA, encoding="utf-8")
    return path


def source(folder: Path) -> DuckDBSource:
    columns = (("person", "BIGINT"), ("seen", "TIMESTAMP"))
    file = str(folder / "people.parquet")
    return DuckDBSource(tables=(SourceTable("people", file, columns),))


@pytest.mark.parametrize("zone", [None, UTC])
def test_duckdb_fails_for_one_far_moment_in_milliseconds(tmp_path: Path, zone: str | None) -> None:
    """Which is why such columns aren't read: once it doesn't, they may be."""
    write(tmp_path, pa.timestamp("ms", zone), [0, FAR])
    with pytest.raises(duckdb.Error):
        duckdb.execute(f"SELECT count(TRY(seen)) FROM '{tmp_path / 'people.parquet'}'").fetchall()


@pytest.mark.parametrize("moments", [[0, 1], [0, FAR]])
@pytest.mark.parametrize(
    ("kind", "how"),
    [
        (pa.timestamp("ms"), {}),
        (pa.timestamp("ms", UTC), {}),
        (pa.timestamp("ms"), {"version": "1.0"}),
        (pa.timestamp("ns"), {"use_deprecated_int96_timestamps": True}),
    ],
)
def test_moments_that_may_fail_are_not_read_whatever_they_are(
    tmp_path: Path, kind: pa.DataType, how: dict[str, object], moments: list[int]
) -> None:
    path = write(tmp_path, kind, moments, **how)
    with pytest.raises(SchemaFault, match="would fail all statements of the column") as raised:
        load_schema(path)
    assert "COPY (FROM 'old.parquet') TO 'new.parquet'" in raised.value.message
    new = tmp_path / "new.parquet"
    if FAR not in moments:
        duckdb.execute(f"COPY (FROM '{tmp_path / 'people.parquet'}') TO '{new}'")
        new.replace(tmp_path / "people.parquet")
        assert str(load_schema(path).tables["people"].columns["seen"].type) == "TIMESTAMP"


def test_moments_of_a_public_table_are_read(tmp_path: Path) -> None:
    path = write(tmp_path, pa.timestamp("ms"), [0, 1])
    pq.write_table(pq.read_table(tmp_path / "people.parquet"), tmp_path / "days.parquet")
    write(tmp_path, pa.timestamp("us"), [0, 1])
    path.write_text(SCHEMA.replace("budget:", "  days: {public: true}\nbudget:"), encoding="utf-8")
    schema = load_schema(path)
    assert str(schema.tables["days"].columns["seen"].type) == "TIMESTAMP"
    opened = engine_source(schema)
    assert isinstance(opened, DuckDBSource)
    with DuckDBEngine(opened, threads=1) as engine:
        assert engine.execute("SELECT count(seen) AS n FROM days").table.to_pylist() == [{"n": 2}]


@pytest.mark.parametrize(("unit", "zone"), [("us", None), ("us", UTC), ("ns", None)])
def test_other_moments_are_read_and_none_of_them_fails(
    tmp_path: Path, unit: str, zone: str | None
) -> None:
    path = write(tmp_path, pa.timestamp(unit, zone), [0, 2**63 - 1, -(2**63), -1])
    assert str(load_schema(path).tables["people"].columns["seen"].type) == "TIMESTAMP"
    with DuckDBEngine(source(tmp_path), threads=1) as engine:
        counted = "count(seen) AS n, count(*) FILTER (WHERE seen < TIMESTAMP '2020-01-01') AS old"
        row = engine.execute(f"SELECT {counted} FROM people").table.to_pylist()
        assert row == [{"n": 4, "old": 3}]


def test_a_field_of_another_column_has_no_say(tmp_path: Path) -> None:
    """It has the name of a column, and is in milliseconds, as the column isn't; and the reverse."""
    for unit, within in (("us", "ms"), ("ms", "us")):
        path = write(tmp_path, pa.timestamp(unit), [0])
        nested = pa.struct([("seen", pa.timestamp(within)), ("more", pa.list_(pa.int64()))])
        rows = pq.read_table(tmp_path / "people.parquet")
        nest = pa.array([{"seen": 0, "more": [1]}], nested)
        pq.write_table(rows.add_column(0, "nest", nest), tmp_path / "people.parquet")
        if unit == "us":
            assert "seen" in load_schema(path).tables["people"].columns
            continue
        with pytest.raises(SchemaFault, match="which is not read"):
            load_schema(path)


def test_a_file_that_takes_the_place_of_another_is_looked_at_again(tmp_path: Path) -> None:
    write(tmp_path, pa.timestamp("us"), [0])
    DuckDBEngine(source(tmp_path), threads=1).close()
    write(tmp_path, pa.timestamp("ms"), [0])
    with pytest.raises(SourceFault, match="column seen of table people is") as raised:
        DuckDBEngine(source(tmp_path), threads=1)
    assert FAILING_MOMENTS in raised.value.message
