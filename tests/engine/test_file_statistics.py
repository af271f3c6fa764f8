"""What a Parquet file says of its values decides about no row: it is made of other rows, too."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from data.database import attached

from dpsql.engine.duckdb.engine import DuckDBEngine
from dpsql.engine.source import DuckDBSource, SourceTable

pytestmark = pytest.mark.bounds

NAN = float("nan")
CONDITIONS = ("x > 100", "x >= 100", "x = 'nan'::DOUBLE", "isnan(x)", "x <> 50", "NOT x < 100")


def counted(folder: Path, kind: str, condition: str) -> int:
    """How many rows of the file satisfy `condition`, beyond those of the values 50, 150 and -50."""
    file = str(folder / "readings.parquet")
    source = DuckDBSource(tables=(SourceTable("readings", file, (("x", kind),)),))
    with DuckDBEngine(source, threads=1) as engine:
        sql = f"SELECT count(*) AS n FROM readings WHERE {condition}"
        return int(engine.execute(sql).table["n"][0].as_py())


@pytest.mark.parametrize("kind", ["DOUBLE", "FLOAT"])
@pytest.mark.parametrize("condition", CONDITIONS)
def test_rows_of_nan_are_found_whatever_stands_beside_them(
    tmp_path: Path, kind: str, condition: str
) -> None:
    arrow = pa.float64() if kind == "DOUBLE" else pa.float32()
    among = f"({condition}) AND x NOT IN (50, 150, -50)"
    for beside in ([50.0], [50.0, 150.0], [50.0, -50.0]):
        rows = pa.table({"x": pa.array([NAN] * 5 + beside, arrow)})
        pq.write_table(rows, tmp_path / "readings.parquet")
        found = counted(tmp_path, kind, among)
        assert found == 5, f"a hostile row decides about rows of NaN: {found} beside {beside}"


@pytest.mark.parametrize("kind", ["DOUBLE", "FLOAT"])
@pytest.mark.parametrize("condition", CONDITIONS)
def test_rows_of_nan_are_found_in_each_page(tmp_path: Path, kind: str, condition: str) -> None:
    """Pages of 256 rows have a least and a greatest value of their own in the file's index."""
    arrow = pa.float64() if kind == "DOUBLE" else pa.float32()
    values = [NAN if 1024 <= row < 2048 or row % 1000 == 500 else 50.0 for row in range(8192)]
    rows = pa.table({"x": pa.array(values, arrow)})
    pages = {"data_page_size": 1024, "write_batch_size": 256, "use_dictionary": False}
    pq.write_table(rows, tmp_path / "readings.parquet", write_page_index=True, **pages)
    expected = sum(value != 50 for value in values)
    assert counted(tmp_path, kind, f"({condition}) AND x <> 50") == expected


@pytest.mark.parametrize("beside", ["", "UNION ALL SELECT '??'", "UNION ALL SELECT 'AA'"])
@pytest.mark.parametrize("condition", ["x = '??'", "x IN ('??', 'z')", "x < 'A'", "x LIKE '??%'"])
def test_bytes_that_are_not_utf_8_are_found_whatever_stands_beside_them(
    tmp_path: Path, beside: str, condition: str
) -> None:
    """DuckDB's file has a Bloom filter, of which the bytes that are changed later aren't part."""
    file = tmp_path / "readings.parquet"
    with attached() as made:
        rows = f"SELECT x FROM (SELECT 'qx' AS x FROM range(50) {beside}) AS t, range(2)"
        options = "FORMAT parquet, COMPRESSION uncompressed"
        made.execute(f"COPY ({rows}) TO '{file}' ({options})")
    file.write_bytes(file.read_bytes().replace(b"qx", b"\xff\xfe"))
    expected = 100 + 2 * ("??" in beside)
    assert counted(tmp_path, "VARCHAR", condition) == expected


@pytest.mark.parametrize(("digits", "size"), [(4, 2), (9, 4), (18, 8), (20, 9), (38, 16)])
def test_decimals_are_found_whatever_an_old_writer_said_of_them(
    tmp_path: Path, digits: int, size: int
) -> None:
    """It compared bytes as signed ones, by which 3.84 (0x0180) is less than 2.57 (0x0101)."""
    file = tmp_path / "readings.parquet"
    for beside in ([], [0x0101]):
        integers = [1, 1, *[0x0180] * 5, *beside]
        held = b"".join(value.to_bytes(16, "little") for value in integers)
        rows = pa.Array.from_buffers(
            pa.decimal128(digits, 2), len(integers), [None, pa.py_buffer(held)]
        )
        pq.write_table(pa.table({"x": rows}), file, use_dictionary=False)
        says, said = _ends(size, 0x0180, deprecated=False), _ends(size, max(beside, default=0x0180))
        written = file.read_bytes()
        assert says in written
        file.write_bytes(written.replace(says, said))
        found = counted(tmp_path, f"DECIMAL({digits},2)", "x > 3")
        assert found == 5, f"a row decides about others: {found} beside {beside}"


def _ends(size: int, largest: int, *, deprecated: bool = True) -> bytes:
    """A column's largest and least value, 1, as Thrift has them in a footer.

    Where they are deprecated, what the fields of today hold has numbers that nobody reads.
    """
    one = bytes([size]) + (1).to_bytes(size, "big")
    ends = bytes([size]) + largest.to_bytes(size, "big") + b"\x18" + one
    today = bytes([size]) + (0x0180).to_bytes(size, "big") + b"\x18" + one
    return b"\x18" + ends + b"\x16\x00" + (b"\x68" if deprecated else b"\x28") + today
