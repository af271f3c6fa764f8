"""No time and no decimal of a Parquet file fails the statements that read it."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpsql.engine.duckdb.engine import DuckDBEngine
from dpsql.engine.source import (
    FAILING_DECIMALS,
    FAILING_TIMES,
    DuckDBSource,
    SourceTable,
)
from dpsql.errors import SchemaFault, SourceFault
from dpsql.schema.load.load import load_schema

pytestmark = pytest.mark.bounds

SCHEMA = """
dataset: people
source: .
units: {person: {table: people, key: person}}
tables:
  people:
    unit: person
    columns: {person: {type: bigint}, said: {}}
budget: {epsilon: 1}
"""

NIGHT_BUS = (25 * 60 + 10) * 60 * 10**6

ASKED = (
    "SELECT said, count(*) FROM people GROUP BY said",
    "SELECT count(DISTINCT said) FROM people",
    "SELECT count(*) FROM people WHERE CAST(said AS VARCHAR) > '0' OR said // -1 > 3",
    "SELECT sum(CAST(said AS DOUBLE)), max(abs(said)) FROM people",
    "SELECT count(*) FROM people WHERE TRY(round(said, 1)) > 3 OR TRY(said % -1) > 0",
)


def integers(kind: pa.DataType, values: Sequence[int], size: int) -> pa.Array:
    """A column of `kind` with these integers of `size` bytes, whether the type has them or not."""
    held = b"".join(value.to_bytes(size, "little", signed=True) for value in values)
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(held)])


def write(folder: Path, said: pa.Array, **how: object) -> Path:
    """A folder with a schema, and the file `people.parquet`."""
    persons = pa.array(range(len(said)), pa.int64())
    pq.write_table(pa.table({"person": persons, "said": said}), folder / "people.parquet", **how)
    path = folder / "schema.yaml"
    path.write_text(SCHEMA, encoding="utf-8")
    return path


def source(folder: Path, kind: str) -> DuckDBSource:
    columns = (("person", "BIGINT"), ("said", kind))
    file = str(folder / "people.parquet")
    return DuckDBSource(tables=(SourceTable("people", file, columns),))


def with_fewer_digits(file: Path, digits: int) -> None:
    """Say in the file's footer that its decimals of 38 digits have so many, in as many bytes."""
    written = file.read_bytes()
    length = struct.unpack("<I", written[-8:-4])[0]
    footer = written[-8 - length : -8]
    # A field of 32 bits in Thrift's compact form: its type, and twice the number.
    said = footer.replace(bytes([0x15, 2 * 38]), bytes([0x15, 2 * digits]))
    assert said != footer
    file.write_bytes(written[: -8 - length] + said + written[-8:])


def test_duckdb_fails_for_one_time_beyond_a_day(tmp_path: Path) -> None:
    """Which is why such columns aren't read: once it doesn't, they may be."""
    write(tmp_path, integers(pa.time64("us"), [0, NIGHT_BUS], 8))
    with pytest.raises(duckdb.Error, match="Invalid TIME value"):
        duckdb.execute(f"SELECT count(TRY(said)) FROM '{tmp_path / 'people.parquet'}'").fetchall()


@pytest.mark.parametrize("last", [0, NIGHT_BUS])
@pytest.mark.parametrize(("unit", "part"), [("s", 1000), ("us", 1), ("ns", 1)])
def test_times_are_not_read_whatever_they_are(
    tmp_path: Path, unit: str, part: int, last: int
) -> None:
    kind, size = (pa.time32("ms"), 4) if unit == "s" else (pa.time64(unit), 8)
    path = write(tmp_path, integers(kind, [0, last // part], size))
    with pytest.raises(SchemaFault, match="would fail all statements of the column") as raised:
        load_schema(path)
    assert FAILING_TIMES in raised.value.message
    with pytest.raises(SourceFault, match="column said of table people is"):
        DuckDBEngine(source(tmp_path, "VARCHAR"), threads=1)


def test_times_of_a_public_table_are_read(tmp_path: Path) -> None:
    path = write(tmp_path, pa.array([0, 1], pa.int64()))
    times = pa.table({"at": integers(pa.time64("us"), [0, 1], 8)})
    pq.write_table(times, tmp_path / "times.parquet")
    path.write_text(SCHEMA.replace("budget:", "  times: {public: true}\nbudget:"), encoding="utf-8")
    assert str(load_schema(path).tables["times"].columns["at"].type) == "VARCHAR"


@pytest.mark.parametrize("value", [1, 2**70])
@pytest.mark.parametrize(("digits", "is_read"), [(3, False), (18, False), (20, True), (37, True)])
def test_decimals_are_read_where_no_bytes_fail_the_reader(
    tmp_path: Path, digits: int, value: int, *, is_read: bool
) -> None:
    path = write(tmp_path, integers(pa.decimal128(38, 2), [1, value], 16))
    with_fewer_digits(tmp_path / "people.parquet", digits)
    if is_read:
        kind = f"DECIMAL({digits},2)"
        assert str(load_schema(path).tables["people"].columns["said"].type) == kind
        with DuckDBEngine(source(tmp_path, kind), threads=1) as engine:
            counted = engine.execute("SELECT count(person) AS n, max(said) AS m FROM people")
            assert counted.table.to_pylist()[0]["n"] == 2
        return
    with pytest.raises(SchemaFault, match="would fail all statements of the column") as raised:
        load_schema(path)
    assert FAILING_DECIMALS in raised.value.message


@pytest.mark.parametrize(
    ("digits", "scale", "value"),
    [
        *((3, 2, end) for end in (-(2**15), 2**15 - 1, 1000, -1000)),
        (1, 0, 100),
        (4, 4, -(2**15)),
        *((digits, 10, end) for digits in (37, 38) for end in (-(2**127), 2**127 - 1)),
        (38, 38, -(2**127)),
    ],
)
def test_a_decimal_beyond_its_digits_is_null_where_it_would_fail(
    tmp_path: Path, digits: int, scale: int, value: int
) -> None:
    write(tmp_path, integers(pa.decimal128(digits, scale), [1, value, 1, value], 16))
    opened = source(tmp_path, f"DECIMAL({digits},{scale})")
    for sql in ASKED:
        with DuckDBEngine(opened, threads=1) as engine:
            engine.execute(sql)  # in an engine of its own: some failures end all later statements
    with DuckDBEngine(opened, threads=1) as engine:
        row = engine.execute("SELECT count(*) AS n, count(said) AS held FROM people").table
        assert row.to_pylist() == [{"n": 4, "held": 2}]


@pytest.mark.parametrize(
    ("digits", "value", "as_integer"),
    [
        (9, -(2**31), True),
        (9, 2**31 - 1, True),
        (18, -(2**63), True),
        (18, -(2**63), False),
        (19, -(2**63), False),
        (20, -(2**71), False),
        (36, -(2**119), False),
    ],
)
def test_a_decimal_beyond_its_digits_fails_nothing_where_it_is_read(
    tmp_path: Path, digits: int, value: int, *, as_integer: bool
) -> None:
    said = integers(pa.decimal128(digits, 2), [1, value, 1, value], 16)
    write(tmp_path, said, store_decimal_as_integer=as_integer)
    for sql in ASKED:
        with DuckDBEngine(source(tmp_path, f"DECIMAL({digits},2)"), threads=1) as engine:
            engine.execute(sql)
