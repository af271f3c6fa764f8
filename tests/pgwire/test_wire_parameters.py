"""Parameters stand beside anything, as PostgreSQL reads them: `$1,$2` is no quoted text."""

from __future__ import annotations

import os
import struct
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from pgwire.shop import Served

from dpsql.pgwire.codec.parameter import raw_bytes
from dpsql.sqltext.split import spaced

ASKED = [
    ("SELECT name FROM regions WHERE region_id IN ($1,$2) ORDER BY 1", (2, 3), 2),
    ("SELECT name FROM regions WHERE name = $1||$2", ("region ", "4"), 1),
    ("SELECT name FROM regions WHERE region_id>=$1AND region_id<=$2", (1, 3), 3),
    ("SELECT relname FROM pg_class WHERE relname IN ($1,$2)", ("orders", "customers"), 2),
    ("SELECT name, '$1,$2' FROM regions /* $1,$2 */ WHERE region_id=$1", (2,), 1),
    ("SELECT status, count(*) FROM orders WHERE status IN ($1,$2) GROUP BY 1", ("new", "paid"), 2),
]


@pytest.mark.parametrize(("sql", "values", "rows"), ASKED, ids=[sql for sql, *_ in ASKED])
def test_parameters_need_no_blanks(
    server: Served, sql: str, values: tuple[object, ...], rows: int
) -> None:
    psycopg = pytest.importorskip("psycopg")
    with (
        psycopg.connect(server.dsn, autocommit=True) as connection,
        psycopg.RawCursor(connection) as cursor,
    ):
        assert len(cursor.execute(sql, values).fetchall()) >= rows


def test_places_are_those_of_the_clients_text(server: Served) -> None:
    psycopg = pytest.importorskip("psycopg")
    sql = "SELECT name FROM regions WHERE region_id IN ($1,$2) AND nothing = $1"
    with (
        psycopg.connect(server.dsn, autocommit=True) as connection,
        psycopg.RawCursor(connection) as cursor,
        pytest.raises(psycopg.Error) as raised,
    ):
        cursor.execute(sql, (1, 2))
    assert int(raised.value.diag.statement_position) == sql.index("nothing") + 1


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize(
    ("sql", "value", "rows"),
    [
        ("SELECT name FROM regions WHERE region_id = ANY($1)", [2, 3, 9], 2),
        ("SELECT name FROM regions WHERE region_id = ANY($1::int[])", [2, 3], 2),
        ("SELECT name FROM regions WHERE region_id <> ALL($1)", [2, 3], 2),
        ("SELECT name FROM regions WHERE region_id = ANY($1)", [], 0),
        ("SELECT name FROM regions WHERE name = ANY($1)", ["region 1", 'a,"b', "region 4"], 2),
        ("SELECT relname FROM pg_class WHERE relname = ANY($1)", ["orders", "customers"], 2),
    ],
)
def test_an_array_may_be_bound(
    server: Served, sql: str, value: list[object], rows: int, *, binary: bool
) -> None:
    psycopg = pytest.importorskip("psycopg")
    with (
        psycopg.connect(server.dsn, autocommit=True) as connection,
        psycopg.RawCursor(connection) as cursor,
    ):
        if binary and value and isinstance(value[0], int):
            connection.adapters.register_dumper(list, psycopg.types.array.ListBinaryDumper)
        cursor.execute(sql, [value], binary=binary)
        assert len(cursor.fetchall()) == rows


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize(
    "value", [1.5, -0.1, 1e300, Decimal("1.50"), Decimal("-12345678901234567890.123456789"), 7]
)
@pytest.mark.parametrize(
    "sql", ["SELECT $1", "SELECT $1 AS x FROM pg_class WHERE relname = 'orders'"]
)
def test_a_number_without_a_table_of_data_is_itself(
    server: Served, sql: str, value: object, *, binary: bool
) -> None:
    psycopg = pytest.importorskip("psycopg")
    with (
        psycopg.connect(server.dsn, autocommit=True) as connection,
        psycopg.RawCursor(connection) as cursor,
    ):
        (told,) = cursor.execute(sql, [value], binary=binary).fetchone()
    assert (type(told), str(told)) == (type(value), str(value))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("$1,$2", "$1 ,$2 "),
        ("$1 , $2", "$1 , $2 "),
        ("'$1,' \"$1,\" $q$ $1, $q$ -- $1,", "'$1,' \"$1,\" $q$ $1, $q$ -- $1,"),
        ("a$1,b", "a$1,b"),
    ],
)
def test_blanks_stand_behind_parameters_alone(text: str, found: str) -> None:
    assert spaced(text)[0] == found


@pytest.mark.parametrize(
    ("kind", "written", "told"),
    [
        ("timestamp", "2021-01-03 00:00:00+05", "2021-01-03 00:00:00"),
        ("timestamp", "2021-01-03 00:00:00.5 -02:30", "2021-01-03 00:00:00.5"),
        ("timestamp", "2021-01-03 +01", "2021-01-03 00:00:00"),
        ("timestamptz", "2021-01-03 00:00:00+05", "2021-01-02 19:00:00+00"),
        ("date", "2021-01-03 +00", "2021-01-03"),
        ("date", "2021-01-03 +05:30", "2021-01-03"),
        ("date", "2021-01-03 23:59:59+14", "2021-01-03"),
        ("date", "2021-01-03Z", "2021-01-03"),
        ("bool", " of", "f"),
        ("bool", "ye", "t"),
        ("int2", "-32768", "-32768"),
        ("int2", "32768", "22003"),
        ("int4", "2147483648", "22003"),
        ("int8", "9223372036854775808", "22003"),
        ("int4", "7_0", "22P02"),
        ("float8", "1_0.5", "22P02"),
        ("numeric", "1_0.5", "22P02"),
        ("bool", "o", "22P02"),
        ("numeric", "-1.23456", "-1.23456"),
        ("numeric", "2", "2"),
        ("pg_catalog.int8::text", "7", "7"),
    ],
)
def test_a_text_is_the_value_that_postgresql_reads(
    server: Served, kind: str, written: str, told: str
) -> None:
    """Each was asked of PostgreSQL 15: `told` is its text, or its SQLSTATE."""
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        asked = connection.pgconn.exec_params(f"SELECT $1::{kind}".encode(), [written.encode()])
        state = asked.error_field(psycopg.pq.DiagnosticField.SQLSTATE)
    assert (asked.get_value(0, 0) if state is None else state) == told.encode()


@pytest.mark.parametrize("written", ["-1.50", "10000", "0.0001", "12345.6", "0", "1e-10", "0.00"])
def test_a_packed_decimal_has_the_digits_that_were_written(server: Served, written: str) -> None:
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        (told,) = connection.execute("SELECT %b", [Decimal(written)], binary=True).fetchone()
    assert f"{told:f}" == f"{Decimal(written):f}"


@pytest.mark.parametrize(
    ("constant", "told"),
    [("1.23456", "1.23456"), ("-'0.00012'", "-0.00012"), ("2", "2"), ("1.50", "1.50")],
)
def test_a_constant_that_is_cast_to_numeric_keeps_its_digits(
    server: Served, constant: str, told: str
) -> None:
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        assert (
            connection.pgconn.exec_(f"SELECT ({constant})::numeric".encode()).get_value(0, 0)
            == told.encode()
        )


def test_a_length_of_time_may_be_bound(server: Served) -> None:
    psycopg = pytest.importorskip("psycopg")
    sql = "SELECT TIMESTAMP '2024-03-01' - {}::interval = TIMESTAMP '2024-02-27 22:30:00'"
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        raw = psycopg.RawCursor(connection)
        for value in (timedelta(days=2, minutes=90), "2 days 01:30"):
            assert raw.execute(sql.format("$1"), [value]).fetchone() == (True,)
        prepared = connection.pgconn
        assert prepared.prepare(b"lengths", sql.format("$1").encode()).error_message == b""
        assert prepared.describe_prepared(b"lengths").param_type(0) == 1186


@pytest.mark.parametrize(
    "length",
    ["'3 days'::interval", "CAST('3 days' AS INTERVAL)", "'3 days 0.000000 seconds'::interval"],
)
def test_a_constant_that_is_cast_to_a_length_moves_private_moments(
    server: Served, length: str
) -> None:
    psycopg = pytest.importorskip("psycopg")
    sql = "SELECT count(*) FROM orders WHERE ts > TIMESTAMP '2024-03-04' - {}"
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        told = connection.execute(sql.format(length)).fetchone()
        assert told == connection.execute(sql.format("INTERVAL '3 days'")).fetchone()


def test_the_moment_of_a_statement_is_now(server: Served) -> None:
    psycopg = pytest.importorskip("psycopg")
    sql = "SELECT count(*) FROM orders WHERE ts > {}() - INTERVAL '3000 days'"
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        for name in ("statement_timestamp", "clock_timestamp"):  # Django's Now() is the first
            assert connection.execute(sql.format(name)).fetchone()[0] > 1000
            shown = connection.execute(f"SELECT {name}(), name FROM regions")
            assert [c.name for c in shown.description] == [name, "name"]
            assert shown.description[0].type_code == 1184


def test_a_time_without_a_zone_is_compared_as_it_is_written(server: Served) -> None:
    psycopg = pytest.importorskip("psycopg")
    sql = b"SELECT 1 FROM regions WHERE TIMESTAMP '2023-01-01 00:00:00' = $1 LIMIT 1"
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        asked = connection.pgconn.exec_params(sql, [b"2023-01-01 00:00:00+01"])
    assert asked.ntuples == 1


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize(
    ("value", "oid"),
    [
        (date(2024, 2, 29), 1082),
        (datetime(2024, 2, 29, 1, 2, 3, 4), 1114),  # noqa: DTZ001 - of the type without a zone
        (datetime(2024, 2, 29, 1, 2, tzinfo=UTC), 1184),
        (time(1, 2, 3, 4), 1083),
        (timedelta(days=3, seconds=5), 1186),
        (UUID(int=5), 2950),
        (b"\0a\xff'\\", 17),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("place", ["%s", "%b"])
def test_a_parameter_alone_is_of_its_type(
    server: Served, value: object, oid: int, place: str, *, binary: bool
) -> None:
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        cursor = connection.cursor(binary=binary).execute(f"SELECT {place} AS x", [value])
        assert [(column.name, column.type_code) for column in cursor.description] == [("x", oid)]
        assert cursor.fetchall() == [(value,)]


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("of", ["Json", "Jsonb"])
def test_a_json_parameter_alone_is_one(server: Served, of: str, *, binary: bool) -> None:
    psycopg: Any = pytest.importorskip("psycopg")
    kind = getattr(psycopg.types.json, of)
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        cursor = connection.cursor(binary=binary).execute("SELECT %b, %t", [kind({"a": 1})] * 2)
        assert cursor.fetchall() == [({"a": 1}, {"a": 1})]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", b""),
        (r"\x6162", b"ab"),
        (r"\xAB cd", b"\xab\xcd"),
        (r"a\\b\001", b"a\\b\1"),
        ("\u00e9\n", b"\xc3\xa9\n"),
    ],
)
def test_bytes_are_read_as_postgresql_writes_them(server: Served, text: str, found: bytes) -> None:
    psycopg = pytest.importorskip("psycopg")
    assert raw_bytes(text) == found
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        assert connection.execute(f"SELECT '{text}'::bytea").fetchone() == (found,)


@pytest.mark.parametrize("text", [r"\x6", r"\xzz", r"\9", "a\\", r"\400"])
def test_what_is_no_bytes_is_refused_without_its_text(server: Served, text: str) -> None:
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        asked = connection.pgconn.exec_params(b"SELECT $1", [text.encode()], [17])
    assert asked.error_field(psycopg.pq.DiagnosticField.SQLSTATE) == b"22P02"
    assert text.encode() not in asked.error_message


@pytest.mark.parametrize(
    ("expression", "types"),
    [
        ("coalesce(i, $1), nullif(d, $2), greatest($3, n), least(day, $4)", [23, 1700, 20, 1082]),
        ("round(d, $1), trunc(d, $2), power(i, $3), power(d, $4)", [23, 23, 701, 1700]),
        ("split_part(t, $1, $2), left(t, $3), right(t, $4)", [25, 23, 23, 23]),
        ("lpad(t, $1, $2), repeat(t, $3), chr($4)", [23, 25, 23, 23]),
        ("make_date($1, $2, $3), to_timestamp($4), abs($5)", [23, 23, 23, 701, 701]),
        ("lag(i, $1) OVER (ORDER BY id), ntile($2) OVER (ORDER BY id)", [23, 23]),
        ("(i, t) = ($1, $2), ($3, $4) < (day, ts)", [23, 25, 1082, 1114]),
        ("CASE WHEN b THEN $1 ELSE d END, CASE WHEN b THEN day ELSE $2 END", [1700, 1082]),
        ("$1::float(53), CAST($2 AS float(24)), $3::float(25)", [701, 700, 701]),
        ("CASE WHEN b THEN $1 ELSE $2 END, ts + $3, ts - $4", [25, 25, 1186, 1114]),
    ],
)
def test_parameters_have_postgresqls_types(
    ours: Any, expression: str, types: list[int], request: pytest.FixtureRequest
) -> None:
    servers = [ours]
    if os.environ.get("DPSQL_POSTGRES"):
        servers.append(request.getfixturevalue("theirs"))
    for server in servers:
        wire = server.pgconn
        assert wire.prepare(b"", f"SELECT {expression} FROM t".encode()).error_message == b""
        prepared = wire.describe_prepared(b"")
        assert [prepared.param_type(n) for n in range(prepared.nparams)] == types


def test_a_parameter_that_is_cast_to_an_oid_is_one(
    ours: Any, request: pytest.FixtureRequest
) -> None:
    # asyncpg packs values as the server tells it, and SQLAlchemy casts each of its parameters.
    servers = [ours]
    if os.environ.get("DPSQL_POSTGRES"):
        servers.append(request.getfixturevalue("theirs"))
    for server in servers:
        wire = server.pgconn
        sql = b"SELECT relname FROM pg_class WHERE oid IN ($1::oid) AND oid = ANY($2::oid[])"
        assert wire.prepare(b"", sql).error_message == b""
        prepared = wire.describe_prepared(b"")
        assert [prepared.param_type(n) for n in range(prepared.nparams)] == [26, 1028]
        packed = (1259).to_bytes(4)
        several = struct.pack("!5ii4s", 1, 0, 26, 1, 1, 4, packed)
        asked = wire.exec_prepared(b"", [packed, several], [1, 1])
        assert asked.get_value(0, 0) == b"pg_class"
