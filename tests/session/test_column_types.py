"""Columns of each of DuckDB's types: declared, read, answered and described, from real files."""

from __future__ import annotations

import datetime as dt
import decimal
import uuid
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from data.database import attached
from documentation.pages import check_table
from narrowed import integer, number
from pgwire.shop import served

from dpsql.cli.init.from_database import of_database
from dpsql.cli.init.schema_yaml import skeleton
from dpsql.dbapi.connect import connect
from dpsql.dbapi.connection import Connection
from dpsql.errors import SchemaFault
from dpsql.pgwire.codec import oid as o
from dpsql.schema.load.load import load_schema
from dpsql.schema.source_types import READINGS, reading
from dpsql.schema.sql_type import parse_type

psycopg = pytest.importorskip("psycopg")


class Read(NamedTuple):
    """A type, a value of it as SQL, and how that is told: in Python, by Arrow, by PostgreSQL."""

    name: str
    kind: str
    sql: str
    value: object
    code: str
    arrow: str
    oid: int


MOMENT = dt.datetime(2024, 7, 1, 10, 30, 0, 123456)  # noqa: DTZ001 - TIMESTAMP has no zone
TAG = "6f1d2c3b-0000-4000-8000-00000000abcd"

READ = [
    Read("flag", "BOOLEAN", "true", True, "BOOLEAN", "bool", o.BOOL),
    Read("tiny", "TINYINT", "-3", -3, "TINYINT", "int8", o.INT2),
    Read("utiny", "UTINYINT", "250", 250, "UTINYINT", "uint8", o.INT2),
    Read("small", "SMALLINT", "-300", -300, "SMALLINT", "int16", o.INT2),
    Read("usmall", "USMALLINT", "60000", 60000, "USMALLINT", "uint16", o.INT4),
    Read("plain", "INTEGER", "7", 7, "INTEGER", "int32", o.INT4),
    Read("uplain", "UINTEGER", "4000000000", 4 * 10**9, "UINTEGER", "uint32", o.INT8),
    Read("big", "BIGINT", "-7", -7, "BIGINT", "int64", o.INT8),
    Read("ubig", "UBIGINT", str(2**63), 2**63, "UBIGINT", "uint64", o.NUMERIC),
    Read("huge", "HUGEINT", str(10**30), 10**30, "HUGEINT", "decimal128(38, 0)", o.NUMERIC),
    Read("uhuge", "UHUGEINT", str(10**30), 10**30, "UHUGEINT", "decimal128(38, 0)", o.NUMERIC),
    Read(
        "exact",
        "DECIMAL(9,2)",
        "1.25",
        decimal.Decimal("1.25"),
        "DECIMAL(9,2)",
        "decimal128(9, 2)",
        o.NUMERIC,
    ),
    Read("half", "FLOAT", "0.5", 0.5, "FLOAT", "float", o.FLOAT4),
    Read("whole", "DOUBLE", "0.25", 0.25, "DOUBLE", "double", o.FLOAT8),
    Read("word", "VARCHAR", "'wörd'", "wörd", "VARCHAR", "string", o.TEXT),
    Read("day", "DATE", "DATE '2024-07-01'", dt.date(2024, 7, 1), "DATE", "date32[day]", o.DATE),
    Read(
        "moment",
        "TIMESTAMP",
        f"TIMESTAMP '{MOMENT}'",
        MOMENT,
        "TIMESTAMP",
        "timestamp[us]",
        o.TIMESTAMP,
    ),
    Read("tag", "UUID", f"'{TAG}'", uuid.UUID(TAG), "UUID", "string", o.UUID),
    Read("mood", "ENUM('low', 'high')", "'high'", "high", "VARCHAR", "string", o.TEXT),
    Read("note", "JSON", """'{"a":  1}'""", '{"a":  1}', "VARCHAR", "string", o.TEXT),
    Read("clock", "TIME", "TIME '09:30:00.5'", "09:30:00.5", "VARCHAR", "string", o.TEXT),
    Read(
        "fine_clock",
        "TIME_NS",
        "'09:30:00.123456789'",
        "09:30:00.123456789",
        "VARCHAR",
        "string",
        o.TEXT,
    ),
    Read("mask", "BIT", "'0101'", "0101", "VARCHAR", "string", o.TEXT),
    Read("raw", "BLOB", r"'a\x00\xFF'::BLOB", r"a\x00\xFF", "VARCHAR", "string", o.TEXT),
    Read(
        "zoned",
        "TIMESTAMPTZ",
        f"TIMESTAMPTZ '{MOMENT}+02'",
        MOMENT - dt.timedelta(hours=2),
        "TIMESTAMP",
        "timestamp[us]",
        o.TIMESTAMP,
    ),
    Read(
        "in_s",
        "TIMESTAMP_S",
        "'2024-07-01 10:30:00'",
        MOMENT.replace(microsecond=0),
        "TIMESTAMP",
        "timestamp[us]",
        o.TIMESTAMP,
    ),
    Read(
        "in_ms",
        "TIMESTAMP_MS",
        "'2024-07-01 10:30:00.123'",
        MOMENT.replace(microsecond=123000),
        "TIMESTAMP",
        "timestamp[us]",
        o.TIMESTAMP,
    ),
    Read(
        "in_ns",
        "TIMESTAMP_NS",
        "'2024-07-01 10:30:00.123455900'",
        MOMENT,
        "TIMESTAMP",
        "timestamp[us]",
        o.TIMESTAMP,
    ),
]

UNREAD = [
    ("INTERVAL", "INTERVAL 3 DAY", "epoch("),
    ("TIMETZ", "'09:30:00+02'", "keep it as TIME"),
    ("INTEGER[]", "[1]", "len("),
    ("INTEGER[2]", "[1, 2]", "len("),
    ("ENUM('a')[]", "['a']", "len("),
    ("STRUCT(a INTEGER)[]", "[{'a': 1}]", "len("),
    ("STRUCT(a INTEGER[])", "{'a': [1]}", "keep its fields as columns"),
    ("MAP(INTEGER, VARCHAR)", "MAP {1: 'a'}", "a row for each entry"),
    ("UNION(a INTEGER, b VARCHAR)", "1", "a column for each of its types"),
    ("BIGNUM", "1", "as a number or text"),
    ("VARIANT", "1", "as a number or text"),
    ("TIMESTAMPTZ_NS", "NULL", "as a number or text"),
]

COLUMNS = "\n".join(f"      {read.name}: {{}}" for read in READ)
SCHEMA = f"""\
dataset: kinds
source: kinds.duckdb
tables:
  people:
    unit: row
    columns:
{COLUMNS}
  listed: {{public: true}}
budget: {{epsilon: 64, delta: 1e-3}}
per_query: {{epsilon: 10, max_epsilon: 20}}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A column of each type in a private table of 1,000 equal rows, and in a public one of one."""
    made = tmp_path_factory.mktemp("kinds")
    values = ", ".join(f"CAST({read.sql} AS {read.kind}) AS {read.name}" for read in READ)
    with attached(made / "kinds.duckdb") as connection:
        connection.execute("SET TimeZone = 'America/New_York'")  # not the reader's
        connection.execute(f"CREATE TABLE listed AS SELECT {values}")
        connection.execute("CREATE TABLE people AS SELECT listed.* FROM listed, range(1000)")
        connection.execute(f"CREATE TABLE unread AS SELECT 1 AS id, {unread_columns()}")
        (made / "parquet").mkdir()
        for table in ("listed", "people"):
            # Parquet has no such types: DuckDB writes them as others.
            lost = ["UHUGEINT", "HUGEINT", "BIT", "TIME_NS"]
            kept = ", ".join(read.name for read in READ if read.kind not in lost)
            target = made / "parquet" / f"{table}.parquet"
            connection.execute(f"COPY (SELECT {kept} FROM {table}) TO '{target}'")
    (made / "schema.yaml").write_text(SCHEMA, encoding="utf-8")
    return made


def unread_columns() -> str:
    return ", ".join(f"CAST({sql} AS {kind}) AS c{n}" for n, (kind, sql, _) in enumerate(UNREAD))


@pytest.fixture
def connection(folder: Path) -> Any:
    with connect(folder / "schema.yaml") as opened:
        yield opened


@pytest.mark.parametrize("read", READ, ids=[read.kind for read in READ])
def test_a_value_is_answered_and_described_as_its_type(connection: Connection, read: Read) -> None:
    cursor = connection.execute(f"SELECT {read.name} FROM listed")
    assert cursor.description is not None
    assert str(cursor.description[0][1]) == read.code
    table = cursor.fetch_arrow_table()
    assert str(table.schema.types[0]) == read.arrow
    (row,) = connection.execute(f"SELECT {read.name} FROM listed").fetchall()
    assert row[0] == read.value or str(row[0]) == str(read.value)
    assert o.oid_of(connection.schema.tables["listed"].columns[read.name].type) == read.oid


@pytest.mark.parametrize("read", READ, ids=[read.kind for read in READ])
def test_private_rows_are_counted_and_grouped_by_it(connection: Connection, read: Read) -> None:
    """Noise at epsilon 10 is off by 10 with a probability below 1e-9."""
    sql = f"SELECT count({read.name}), count(*) FROM people WHERE {read.name} IS NOT NULL"
    ((some, every),) = connection.execute(sql).fetchall()
    assert abs(integer(some) - 1000) < 10
    assert abs(integer(every) - 1000) < 10
    if read.kind not in {"FLOAT", "DOUBLE"}:  # they are grouped by as something else
        grouped = f"SELECT {read.name}, count(*) FROM people GROUP BY 1"
        rows = [row for row in connection.execute(grouped).fetchall() if integer(row[1]) > 100]
        assert [str(row[0]) for row in rows] == [str(read.value)]


@pytest.mark.parametrize("name", ["ubig", "huge", "uhuge", "uplain", "utiny"])
def test_wide_and_unsigned_integers_are_summed_within_bounds(folder: Path, name: str) -> None:
    value = next(int(str(read.value)) for read in READ if read.name == name)
    text = SCHEMA.replace(f"{name}: {{}}", f"{name}: {{bounds: [0, {value}]}}")
    path = folder / f"{name}.yaml"
    path.write_text(text.replace("dataset: kinds", f"dataset: {name}"), encoding="utf-8")
    with connect(path) as opened:
        sql = f"SELECT sum({name}), avg({name}) FROM people"
        ((total, mean),) = opened.execute(sql).fetchall()
    assert abs(number(total) / (1000 * value) - 1) < 0.1
    assert abs(number(mean) / value - 1) < 0.1


def test_the_same_is_read_of_parquet_files(folder: Path) -> None:
    # In Parquet, neither milliseconds are read nor times of day.
    lost = {"huge", "uhuge", "mask", "clock", "fine_clock", "in_ms"}
    text = SCHEMA.replace("kinds.duckdb", "parquet").replace("dataset: kinds", "dataset: files")
    for name in lost:
        text = text.replace(f"      {name}: {{}}\n", "")
    (folder / "files.yaml").write_text(text, encoding="utf-8")
    with connect(folder / "files.yaml") as opened:
        for read in READ:
            if read.name not in lost:
                sql = f"SELECT {read.name} FROM listed"
                ((value,),) = opened.execute(sql).fetchall()
                assert str(value) == str(read.value), read


def test_postgresqls_clients_get_each_type_under_its_oid(folder: Path) -> None:
    names = ", ".join(read.name for read in READ)
    with (
        served(folder) as server,
        psycopg.connect(
            f"host=127.0.0.1 port={server.port} user=alice dbname=kinds", autocommit=True
        ) as wire,
    ):
        for binary in (False, True):
            cursor = wire.cursor(binary=binary)
            cursor.execute("SET TimeZone = 'UTC'")  # no other would change moments
            (row,) = cursor.execute(f"SELECT {names} FROM listed").fetchall()
            told = [column.type_code for column in cursor.description or ()]
            assert told == [read.oid for read in READ]
            for read, value in zip(READ, row, strict=True):
                assert value == read.value or str(value) == str(read.value), read


@pytest.mark.parametrize(("kind", "why"), [(kind, why) for kind, _, why in UNREAD])
def test_a_type_that_is_not_read_says_what_to_keep_instead(
    folder: Path, kind: str, why: str
) -> None:
    number = [known for known, *_ in UNREAD].index(kind)
    text = f"  unread: {{unit: row, columns: {{id: {{}}, c{number}: {{}}}}}}\nbudget:"
    path = folder / "unread.yaml"
    path.write_text(SCHEMA.replace("budget:", text), encoding="utf-8")
    with pytest.raises(SchemaFault) as caught:
        load_schema(path)
    assert "which is not read; remove the column" in caught.value.message
    assert why in caught.value.message


def test_init_says_of_each_column_how_it_is_read(folder: Path) -> None:
    text = skeleton(of_database(folder / "kinds.duckdb", "kinds.duckdb"))
    for read in READ:
        assert f"{read.name}: {{type: " in text
    for n in range(len(UNREAD)):
        assert f"# c{n}: " in text


def test_a_rounded_moment_is_no_key(folder: Path) -> None:
    path = folder / "keyed.yaml"
    path.write_text(SCHEMA.replace("    unit: row", "    key: in_ns\n    unit: row"))
    with pytest.raises(SchemaFault, match="is a key of TIMESTAMP_NS, whose values can read alike"):
        load_schema(path)


@pytest.mark.parametrize(
    ("left", "right", "kind"),
    [
        ("'a'::BLOB", r"'\x61\x00'::BLOB", "BLOB"),
        (r"'\x5Cx61'::BLOB", "'a'::BLOB", "BLOB"),
        ("'01'", "'001'", "BIT"),
        ("TIME '09:30:00'", "TIME '09:30:00.000001'", "TIME"),
        ("""'{"a":1}'""", """'{"a": 1}'""", "JSON"),
        ("TIMESTAMPTZ '2024-01-01 00:00+00'", "TIMESTAMPTZ '2024-01-01 00:00+01'", "TIMESTAMPTZ"),
    ],
)
def test_different_values_read_differently(left: str, right: str, kind: str) -> None:
    found = reading("TIMESTAMP WITH TIME ZONE" if kind == "TIMESTAMPTZ" else kind)
    assert found.exact
    with attached() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        sql = "SELECT TRY_CAST(CAST({} AS {kind}) AS {to}) = TRY_CAST(CAST({} AS {kind}) AS {to})"
        asked = sql.format(left, right, kind=kind, to=found.type)
        assert connection.execute(asked).fetchone() == (False,)


def test_the_readme_has_the_table(request: pytest.FixtureRequest) -> None:
    check_table(request, "type-table", table())


def table() -> str:
    """How each type is read, dpsql's own first."""
    own = [read.kind for read in READ if parse_type(read.kind) is not None]
    rows = [(", ".join(own).replace("(9,2)", "(p,s)"), "itself", "")]
    rows += [
        (found.shown, "not read" if found.type is None else str(found.type), found.why)
        for found in READINGS
    ]
    lines = ["| DuckDB's type | is read as | how, or what to keep instead |", "| --- | --- | --- |"]
    lines += [f"| {shown} | {read} | {why} |" for shown, read, why in rows]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ("note ->> '$.a'", "1"),
        ("note ->> 'a'", "1"),
        ("json_extract_string(note, '$.a[0]')", None),
        ("word ->> '$.a'", None),  # no JSON
    ],
)
def test_what_stands_in_a_json_text_is_read(
    connection: Connection, sql: str, found: str | None
) -> None:
    assert connection.execute(f"SELECT {sql} FROM listed").fetchall() == [(found,)]
    ((count,),) = connection.execute(f"SELECT count({sql}) FROM people").fetchall()
    assert abs(integer(count) - (0 if found is None else 1000)) < 10
