"""No value of one person decides whether a statement is answered, wherever its rows are."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from data.database import attached
from neighbor_search.share import in_turn

from dpsql.dbapi.connect import connect
from dpsql.dbapi.connection import Connection
from dpsql.errors import Error

SCHEMA = """
dataset: hostile
source: {source}
ledger: ledger.sqlite
units:
  patient: {{table: patients, key: patient_id}}
tables:
  patients:
    key: patient_id
    unit: patient
    columns:
      patient_id: {{type: bigint}}
      age: {{type: integer, bounds: [0, 120]}}
      born: {{type: date}}
      seen: {{type: timestamp}}
      wide: {{type: "{wide}", values: [1, 2]}}
      exact: {{type: "decimal(38,0)"}}
      fine: {{type: "decimal(38,30)"}}
      weight: {{type: double}}
      name: {{type: varchar}}
budget: {{epsilon: 60, delta: 1.0e-3}}
per_query: {{epsilon: 0.1, delta: 1.0e-6}}
"""

COLUMNS = ("patient_id", "age", "born", "seen", "wide", "exact", "fine", "weight", "name")
TYPES = (
    *("BIGINT", "INTEGER", "DATE", "TIMESTAMP", "HUGEINT", "DECIMAL(38,0)", "DECIMAL(38,30)"),
    *("DOUBLE", "VARCHAR"),
)
ORDINARY = ("1", "30", "2020-01-01", "2020-01-01 10:00:00", "1", "7", "0.5", "1.5", "ann")
NINES = "9" * 38
HOSTILE = (
    (
        "2",
        "37",
        "9999-12-31",
        "9999-12-31 23:59:59.999999",
        str(2**127 - 1),
        NINES,
        f"99999999.{'9' * 30}",
        "nan",
        "x" * 1_000_000,
    ),
    (
        "2",
        "37",
        "infinity",
        "infinity",
        str(-(2**127)),
        f"-{NINES}",
        f"-99999999.{'9' * 30}",
        "inf",
        "",
    ),
    (
        "2",
        "37",
        "5877642-06-25 (BC)",
        "290309-12-21 (BC) 19:59:05.224192",
        "1" + "0" * 38,
        NINES,
        "0",
        "-1.7976931348623157e308",
        "a\0b👩‍👩‍👧",
    ),
    (
        "2",
        "37",
        "5881580-07-10",
        "294247-01-10 04:00:54.775806",
        "0",
        "0",
        "0",
        "5e-324",
        "\U0010ffff",
    ),
)

_OF_DATES = ("epoch_ns", "epoch_us", "epoch_ms", "week", "yearweek", "isoyear", "last_day")
_OF_UNITS = (
    "median(born)",
    "quantile_cont(seen, 0.3)",
    "sum(DISTINCT wide)",
    "avg(DISTINCT exact)",
    "sum(exact)",
    "sum(DISTINCT fine)",
    "avg(fine)",
    "sum(DISTINCT weight)",
    "avg(DISTINCT weight)",
    "max(name)",
)
_IN_WINDOWS = """
SELECT count(*) FROM (
    SELECT patient_id, sum(fine) OVER (PARTITION BY patient_id ORDER BY age) v,
        sum(DISTINCT exact) OVER (PARTITION BY patient_id) w FROM patients
) t WHERE v > w
"""
_COMPUTED = """
SELECT count(*) FROM (
    SELECT patient_id, median(CAST(CASE WHEN patient_id = 2 AND age = 37 THEN '300000-01-01'
        ELSE '2020-01-01' END AS DATE)) v FROM patients GROUP BY patient_id
) t WHERE v IS NULL
"""
_FIRST_MOMENT = """
SELECT count(*) FROM patients WHERE CAST(make_timestamp(
    CASE WHEN patient_id = 2 AND age = 37 THEN -9223372036854775807 - 1 ELSE 0 END
) AS VARCHAR) LIKE '2%'
"""
STATEMENTS = (
    _COMPUTED,
    _FIRST_MOMENT,
    _IN_WINDOWS,
    *(
        f"SELECT count(*) FROM (SELECT patient_id, {call} v FROM patients GROUP BY patient_id) t "
        "WHERE v IS NOT NULL"
        for call in _OF_UNITS
    ),
    "SELECT wide, count(*) FROM patients GROUP BY wide",
    "SELECT wide, count(*) FROM patients WHERE wide IN (1, 2) GROUP BY wide",
    *(f"SELECT count(*) FROM patients WHERE {f}(born) > 3" for f in _OF_DATES if f != "last_day"),
    *(f"SELECT count({f}(seen)) FROM patients" for f in _OF_DATES),
    "SELECT count(*) FROM patients WHERE date_trunc('week', born) > TIMESTAMP '2000-01-01'",
    "SELECT count(*) FROM patients WHERE born > TIMESTAMP '2000-01-01 10:00:00'",
    "SELECT count(*) FROM patients WHERE CAST(seen AS VARCHAR) LIKE '2%' OR seen || '' = 'x'",
    "SELECT count(*) FROM patients WHERE upper(name) || reverse(name) LIKE '%A%'",
    "SELECT name, count(*) FROM patients GROUP BY name",
)


def duckdb_file(folder: Path, rows: list[tuple[str, ...]]) -> str:
    with attached(folder / "hostile.duckdb") as made:
        columns = ", ".join(f"{c} {t}" for c, t in zip(COLUMNS, TYPES, strict=True))
        made.execute(f"CREATE TABLE patients ({columns})")
        for row in rows:
            made.execute("INSERT INTO patients VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    return "hostile.duckdb"


def parquet_files(folder: Path, rows: list[tuple[str, ...]]) -> str:
    """No type of Parquet is a HUGEINT."""
    duckdb_file(folder, rows)
    (folder / "data").mkdir()
    with attached(folder / "hostile.duckdb") as made:
        made.execute(
            "COPY (SELECT * REPLACE (TRY_CAST(wide AS DECIMAL(38,0)) AS wide) FROM patients) "
            f"TO '{folder / 'data' / 'patients.parquet'}' (FORMAT parquet)"
        )
    return "data"


def csv_files(folder: Path, rows: list[tuple[str, ...]]) -> str:
    (folder / "data").mkdir()
    with (folder / "data" / "patients.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([COLUMNS, *rows])
    return "data"


Write = Callable[[Path, list[tuple[str, ...]]], str]
WRITERS: tuple[Write, ...] = (duckdb_file, parquet_files, csv_files)


def opened(folder: Path, source: str) -> Connection:
    is_parquet = (folder / source / "patients.parquet").exists()
    wide = "decimal(38,0)" if is_parquet else "hugeint"
    text = SCHEMA.format(source=source, wide=wide)
    (folder / "schema.yaml").write_text(text, encoding="utf-8")
    return connect(folder / "schema.yaml")


def failing(connected: Connection) -> list[str]:
    """The statements that aren't answered."""
    found: list[str] = []
    for sql in STATEMENTS:
        try:
            connected.execute(sql).fetchall()
        except Error:
            found.append(sql)
    return found


@pytest.mark.parametrize(
    ("write", "hostile"),
    in_turn(
        (
            (f"{write.__name__}-{hostile[2]}", (write, hostile))
            for hostile in HOSTILE
            for write in WRITERS
        ),
        share=2,
    ),
)
def test_no_value_of_one_unit_fails_a_statement(
    tmp_path: Path, write: Write, hostile: tuple[str, ...]
) -> None:
    # Of two rows that differ, DISTINCT sums add both.
    other = HOSTILE[HOSTILE.index(hostile) - 1]
    with opened(tmp_path, write(tmp_path, [ORDINARY, hostile, other])) as connected:
        assert failing(connected) == []


def strings(values: list[bytes]) -> pa.Array:
    """A column of text whose bytes nobody checks."""
    found = pa.array(values, pa.binary())
    return pa.StringArray.from_buffers(len(values), *found.buffers()[1:])


BYTES = [b"ann", b"\xff\xfe", b"\xc3", "é".encode(), b"\xed\xa0\x80"]


def test_text_of_parquet_that_is_not_utf_8_fails_no_statement(tmp_path: Path) -> None:
    parquet_files(tmp_path, [(str(n), *ORDINARY[1:]) for n in range(len(BYTES))])
    file = tmp_path / "data" / "patients.parquet"
    rows = pq.read_table(file).drop_columns("name").append_column("name", strings(BYTES))
    pq.write_table(rows, file)
    with opened(tmp_path, "data") as connected:
        assert failing(connected) == []


def test_text_of_csv_that_is_not_utf_8_fails_no_statement(tmp_path: Path) -> None:
    csv_files(tmp_path, [(str(n), *ORDINARY[1:-1], f"name {n}") for n in range(len(BYTES))])
    file = tmp_path / "data" / "patients.csv"
    text = file.read_bytes()
    for number, name in enumerate(BYTES):
        text = text.replace(b"name %d" % number, name)
    file.write_bytes(text)
    with opened(tmp_path, "data") as connected:
        assert failing(connected) == []


@pytest.mark.parametrize("exact", [NINES, f"-{NINES}"])
def test_a_key_that_arrow_has_no_type_for_fails_no_statement(tmp_path: Path, exact: str) -> None:
    """Enough units have it that no threshold hides its group: 10^38, of 39 digits."""
    rows: list[tuple[str, ...]] = [
        (str(n), *ORDINARY[1:5], exact, *ORDINARY[6:]) for n in range(900)
    ]
    with opened(tmp_path, duckdb_file(tmp_path, rows)) as connected:
        found = connected.execute(
            "SELECT CAST(exact AS HUGEINT) + sign(exact) AS h, count(*) FROM patients GROUP BY h"
        )
        assert [key for key, _ in found.fetchall()] == [None]
