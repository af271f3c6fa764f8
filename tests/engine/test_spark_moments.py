"""No moment of a private table fails the statements that Spark reads it for."""

from __future__ import annotations

import secrets
import struct
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from emit.spark_server import url
from engine.test_spark_source import exact
from pyarrow import orc

from dpsql.engine.source import FAILING_ON_SPARK, ServerTable, SparkSource
from dpsql.engine.spark.catalog import read_catalog
from dpsql.engine.spark.engine import SparkEngine
from dpsql.engine.spark.session import SparkServerSession
from dpsql.errors import ExecutionFailed, SchemaFault, SourceFault
from dpsql.schema.load.load import load_schema
from dpsql.schema.load.table_section.column_types import engine_source
from dpsql.session.session import Session

SCHEMA = """
dataset: people
source: {source}
version: 1
units: {{person: {{table: {people}, key: person}}}}
tables:
  {people}:
    unit: person
    limits: {{groups: 1, rows_per_group: 1}}
    columns: {{person: {{type: bigint}}, seen: {{}}}}
budget: {{epsilon: 60, delta: 1.0e-3, accounting: zcdp}}
"""

FAR = 2**62
UTC = "UTC"
DAY_OF_1970 = 2440588


def rows(kind: pa.DataType, moments: list[int]) -> pa.Table:
    """A person for each moment."""
    persons = pa.array(range(len(moments)), pa.int64())
    return pa.table({"person": persons, "seen": pa.array(moments, pa.int64()).view(kind)})


def schema_of(folder: Path) -> Path:
    """A schema of the folder's Parquet files."""
    path = folder / "schema.yaml"
    source = f"{url()}/;folder={folder}"
    path.write_text(SCHEMA.format(source=source, people="people"), encoding="utf-8")
    return path


def counted(path: Path, condition: str) -> int:
    """How many people satisfy the condition."""
    with closing(Session(load_schema(path))) as session:
        ready = session.compile(f"SELECT count(*) AS n FROM people WHERE {condition}")
        (totals,) = exact(ready, session).values()
        return int(totals.column(0)[0].as_py())


@pytest.mark.parametrize("zone", [None, UTC])
def test_spark_fails_for_one_far_moment_in_milliseconds_or_of_orc(
    owner: SparkServerSession, tmp_path: Path, zone: str | None
) -> None:
    """Which is why such columns aren't read: once it doesn't, they may be."""
    far = rows(pa.timestamp("ms", zone), [0, FAR])
    pq.write_table(far, tmp_path / "far.parquet")
    orc.write_table(far, tmp_path / "far.orc")
    for form in ("parquet", "orc"):
        with pytest.raises(ExecutionFailed):
            owner.rows(f"SELECT count(seen) FROM {form}.`{tmp_path}/far.{form}`")


@pytest.mark.parametrize("moments", [[], [0, 1], [0, FAR]])
@pytest.mark.parametrize("zone", [None, UTC])
def test_no_moments_that_may_fail_are_read_on_spark(
    tmp_path: Path, zone: str | None, moments: list[int]
) -> None:
    pq.write_table(rows(pa.timestamp("ms", zone), moments), tmp_path / "people.parquet")
    with pytest.raises(SchemaFault, match="would fail all statements of the column") as raised:
        load_schema(schema_of(tmp_path))
    assert "have Spark write the table again, as Parquet" in raised.value.message


def test_one_file_among_others_is_enough(tmp_path: Path) -> None:
    """Spark finds out the type of a column by one of its files."""
    folder = tmp_path / "people.parquet"
    folder.mkdir()
    for number in range(4):
        pq.write_table(rows(pa.timestamp("us"), [0]), folder / f"part-{number}.parquet")
    assert "seen" in load_schema(schema_of(tmp_path)).tables["people"].columns
    pq.write_table(rows(pa.timestamp("ms"), [0]), folder / "part-2.parquet")
    with pytest.raises(SchemaFault, match=FAILING_ON_SPARK):
        load_schema(schema_of(tmp_path))


def test_a_file_that_takes_the_place_of_another_is_looked_at_again(tmp_path: Path) -> None:
    pq.write_table(rows(pa.timestamp("us"), [0]), tmp_path / "people.parquet")
    source = engine_source(load_schema(schema_of(tmp_path)))
    assert isinstance(source, SparkSource)
    with SparkEngine(source) as engine:
        pq.write_table(rows(pa.timestamp("ms"), [0]), tmp_path / "people.parquet")
        with pytest.raises(SourceFault, match=r"people\.seen is a Spark timestamp"):
            engine.execute("SELECT count(seen) FROM people")
    with pytest.raises(SourceFault, match=r"people\.seen is a Spark timestamp"):
        SparkEngine(source)


@pytest.mark.parametrize("zone", [None, UTC])
def test_microseconds_are_read_and_none_of_them_fails(tmp_path: Path, zone: str | None) -> None:
    moments = [0, 2**63 - 1, -(2**63), -1]
    pq.write_table(rows(pa.timestamp("us", zone), moments), tmp_path / "people.parquet")
    path = schema_of(tmp_path)
    assert counted(path, "seen IS NOT NULL") == 4
    assert counted(path, "seen < TIMESTAMP '2020-01-01'") == 3


def test_int96_is_read_and_none_of_it_fails(tmp_path: Path) -> None:
    """It is what Spark writes by itself."""
    file = tmp_path / "people.parquet"
    pq.write_table(
        rows(pa.timestamp("ns"), [0, 86_400 * 10**9 + 17]),
        file,
        use_deprecated_int96_timestamps=True,
        use_dictionary=False,
        compression="none",
    )
    moment = struct.pack("<qi", 17, DAY_OF_1970 + 1)
    near = file.read_bytes()
    path = schema_of(tmp_path)
    for nanoseconds, day in ((2**63 - 1, 2**31 - 1), (-(2**63), -(2**31))):
        file.write_bytes(near.replace(moment, struct.pack("<qi", nanoseconds, day)))
        assert counted(path, "seen IS NOT NULL") == 2


def test_moments_of_a_public_table_are_read(tmp_path: Path) -> None:
    pq.write_table(rows(pa.timestamp("us"), [0, 1]), tmp_path / "people.parquet")
    pq.write_table(rows(pa.timestamp("ms"), [0, 1]), tmp_path / "days.parquet")
    path = schema_of(tmp_path)
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("budget:", "  days: {public: true}\nbudget:"), encoding="utf-8")
    schema = load_schema(path)
    assert str(schema.tables["days"].columns["seen"].type) == "TIMESTAMP"
    source = engine_source(schema)
    assert isinstance(source, SparkSource)
    with SparkEngine(source) as engine:
        assert engine.execute("SELECT count(seen) AS n FROM days").table.to_pylist() == [{"n": 2}]


def test_a_column_that_no_statement_sees_may_be_of_any_moments(tmp_path: Path) -> None:
    table = rows(pa.timestamp("us"), [0, 1])
    other = rows(pa.timestamp("ms"), [0, FAR])
    table = table.append_column("other", other.column("seen"))
    pq.write_table(table, tmp_path / "people.parquet")
    assert counted(schema_of(tmp_path), "seen IS NOT NULL") == 2


def test_the_end_of_a_file_may_be_long(tmp_path: Path) -> None:
    """It has a line for each newline that happens to be in it."""
    folder = tmp_path / "a b"
    folder.mkdir()
    seen = pa.array([0], pa.int64())
    names = [f"line\n{number}" for number in range(1000)]
    wide = rows(pa.timestamp("us"), [0])
    for name in names:
        wide = wide.append_column(name, seen)
    pq.write_table(wide, folder / "people.parquet")
    read = read_catalog(SparkSource(f"{url()}/;folder={folder}", tables=(ServerTable("people"),)))
    assert dict(read["people"])["seen"] == "TIMESTAMP"


def test_a_table_of_orc_is_read_but_for_its_moments(
    owner: SparkServerSession, tmp_path: Path
) -> None:
    name = f"people_{secrets.token_hex(4)}"
    owner.rows(
        f"CREATE TABLE {name} USING orc AS SELECT id AS person, TIMESTAMP_NTZ '2024-01-01' AS seen"
        " FROM RANGE(5)"
    )
    path = tmp_path / "schema.yaml"
    text = SCHEMA.format(source=url(), people=name)
    path.write_text(text, encoding="utf-8")
    try:
        with pytest.raises(SchemaFault, match="would fail all statements of the column"):
            load_schema(path)
        path.write_text(text.replace(", seen: {}", ""), encoding="utf-8")
        assert set(load_schema(path).tables[name].columns) == {"person"}
    finally:
        owner.rows(f"DROP TABLE {name}")
