"""psycopg 3, psycopg2, asyncpg and pg8000 against a server."""

from __future__ import annotations

import asyncio
import datetime as dt
from decimal import Decimal
from typing import Any

import pytest
from pgwire.shop import Served

BY_STATUS = "SELECT status, count(*) FROM orders GROUP BY status ORDER BY 1"


@pytest.fixture
def psycopg_connection(server: Served) -> Any:
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(server.dsn) as connection:
        yield connection


def test_psycopg_binds_parameters_in_both_formats(psycopg_connection: Any) -> None:
    sql = """SELECT status, count(*), sum(amount), max(qty * 0 + 1.5) FROM orders
    WHERE qty >= %s AND ts >= %s AND status = ANY(ARRAY['new', 'paid']) GROUP BY 1"""
    sql = sql.replace("status = ANY(ARRAY['new', 'paid'])", "status IN ('new', 'paid')")
    sql = sql.replace(", max(qty * 0 + 1.5)", "")
    given = (10, dt.datetime.fromisoformat("2023-02-01"))
    text = psycopg_connection.execute(sql, given).fetchall()
    binary = psycopg_connection.execute(sql, given, prepare=True, binary=True).fetchall()
    assert text == binary
    assert all(isinstance(row[1], int) and isinstance(row[2], Decimal) for row in text)


def test_psycopg_reads_a_named_cursor_in_parts(psycopg_connection: Any) -> None:
    with psycopg_connection.cursor(name="parts") as cursor:
        cursor.execute(BY_STATUS)
        parts = [cursor.fetchmany(2), cursor.fetchall()]
    assert parts[0] + parts[1] == psycopg_connection.execute(BY_STATUS).fetchall()
    assert len(parts[0]) == 2


def test_psycopg_sends_statements_in_a_pipeline(psycopg_connection: Any) -> None:
    with psycopg_connection.pipeline():
        cursors = [psycopg_connection.execute("SELECT %s::int", (n,)) for n in range(5)]
    assert [cursor.fetchone() for cursor in cursors] == [(n,) for n in range(5)]


def test_psycopg_copies_binary(psycopg_connection: Any) -> None:
    sql = "COPY (SELECT region_id, name FROM regions ORDER BY 1) TO STDOUT (FORMAT binary)"
    with psycopg_connection.cursor() as cursor, cursor.copy(sql) as copy:
        copy.set_types(["int8", "text"])
        rows = list(copy.rows())
    assert rows == [(n, f"region {n}") for n in range(1, 5)]


def test_psycopg_reads_errors(psycopg_connection: Any) -> None:
    import psycopg

    with pytest.raises(psycopg.errors.InsufficientPrivilege) as raised:
        psycopg_connection.execute("SELECT * FROM customers")
    assert raised.value.diag.message_hint == "aggregate over units: SELECT count(*) FROM customers"
    with pytest.raises(psycopg.errors.InFailedSqlTransaction):
        psycopg_connection.execute("SELECT 1")
    psycopg_connection.rollback()
    assert psycopg_connection.execute("SELECT 1").fetchone() == (1,)


def test_psycopg2_works(server: Served) -> None:
    psycopg2 = pytest.importorskip("psycopg2")
    connection = psycopg2.connect(server.dsn)
    try:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*), avg(score) FROM orders WHERE status IN %s", (("new", "paid"),)
            )
            assert [column.name for column in cursor.description] == ["count", "avg"]
            assert [column.type_code for column in cursor.description] == [20, 701]
            assert len(cursor.fetchall()) == 1
        with connection.cursor(name="named") as cursor:
            cursor.itersize = 2
            cursor.execute(BY_STATUS)
            assert len(list(cursor)) >= 4
    finally:
        connection.close()


def test_asyncpg_works(server: Served) -> None:
    asyncpg = pytest.importorskip("asyncpg")

    async def use() -> None:
        connection = await asyncpg.connect(
            server.dsn.replace("host=", "postgresql://?host=").replace(" ", "&")
        )
        sql = """SELECT status, count(*), sum(amount), avg(score) FROM orders
        WHERE qty > $1 AND ts BETWEEN $2 AND $3 AND amount < $4 GROUP BY 1"""
        days = (dt.datetime.fromisoformat(f"{year}-01-01") for year in (2023, 2025))
        rows = await connection.fetch(sql, 5, *days, Decimal("900.5"))
        assert len(rows) >= 4
        assert isinstance(rows[0]["sum"], Decimal)
        first = await connection.fetchval("SELECT $1::text || 'b'", "a")
        assert first == "ab"
        async with connection.transaction(readonly=True):
            read = [row async for row in connection.cursor(BY_STATUS, prefetch=2)]
        assert [tuple(row) for row in read] == [tuple(r) for r in await connection.fetch(BY_STATUS)]
        sql = "SELECT name FROM regions WHERE region_id > $1 ORDER BY 1 LIMIT $2 OFFSET $3"
        assert [r[0] for r in await connection.fetch(sql, 1, 2, 1)] == ["region 3", "region 4"]
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.fetch("SELECT * FROM orders")
        await connection.reset()
        await connection.close()

    asyncio.run(use())


def test_pg8000_works(server: Served) -> None:
    dbapi = pytest.importorskip("pg8000.dbapi")
    connection = dbapi.connect(user="alice", host="127.0.0.1", port=server.port, database="shop")
    try:
        cursor = connection.cursor()
        cursor.execute("SELECT status, count(*) FROM orders WHERE qty < %s GROUP BY 1", (50,))
        assert len(cursor.fetchall()) >= 4
    finally:
        connection.close()
