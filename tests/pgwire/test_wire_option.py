"""OPTIONS over the wire, by both protocols; parameters of statements of dpsql's own."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest
from pgwire.shop import Served, served

COUNT = "SELECT status, count(*) AS n FROM public.orders GROUP BY status"
KEYS = "SELECT status, paid FROM orders WHERE qty < $1 AND status <> $2"
TEXT, INT4, TIMESTAMP = 25, 23, 1114


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("options") / "shop") as found:
        yield found


@pytest.fixture
def connection(server: Served) -> Iterator[psycopg.Connection]:
    with psycopg.connect(server.dsn, autocommit=True) as found:
        yield found


def last(connection: psycopg.Connection) -> tuple[float, str]:
    (*_, charge) = connection.execute("SHOW dpsql.queries").fetchall()
    return charge[2], charge[-1]


def test_they_hold_for_one_statement(connection: psycopg.Connection) -> None:
    sql = f"{COUNT} OPTIONS (epsilon = 0.03, nonnegative = on);"
    connection.execute(sql.encode()).fetchall()
    epsilon, statement = last(connection)
    assert 0.02 < epsilon <= 0.03
    assert statement.endswith("OPTIONS (epsilon = 0.03, nonnegative = on)")
    assert connection.execute("SHOW dpsql.nonnegative").fetchone() == ("off",)


def test_they_are_described_and_run_by_the_extended_protocol(
    connection: psycopg.Connection,
) -> None:
    sql = "SELECT status, count(*) FROM orders WHERE qty < $1 AND ts > $2 GROUP BY 1"
    raw = connection.pgconn
    raw.prepare(b"asked", f"{sql} OPTIONS (epsilon = 0.04)".encode())
    told = raw.describe_prepared(b"asked")
    assert [told.param_type(n) for n in range(2)] == [INT4, TIMESTAMP]
    assert [told.fname(n) for n in range(told.nfields)] == [b"status", b"count"]
    found = raw.exec_prepared(b"asked", [b"50", b"2023-02-01"])
    assert found.ntuples >= 4
    assert 0.03 < last(connection)[0] <= 0.04


def test_own_statements_have_typed_parameters(connection: psycopg.Connection) -> None:
    query = "SELECT status, count(*) AS n FROM orders WHERE qty < $1 AND status <> $2 GROUP BY 1"
    raw = connection.pgconn
    for name, sql in [
        (b"explained", f"EXPLAIN PRIVACY {query}"),
        (b"made", f"CREATE RELEASE some AS {query} OPTIONS (epsilon = 0.05)"),
        (
            b"weighed",
            f"CREATE SYNOPSIS other ON {KEYS} WITH (epsilon = 0.05)",
        ),
    ]:
        raw.prepare(name, sql.encode())
        told = raw.describe_prepared(name)
        assert [told.param_type(n) for n in range(told.nparams)] == [INT4, TEXT], sql
        found = raw.exec_prepared(name, [b"50", b"new"])
        assert found.ntuples > 2, found.error_message
    ((rows,),) = connection.execute("SELECT count(*) FROM some").fetchall()
    assert rows >= 3
    # psycopg sends what it knows of each value, too.
    made = "CREATE OR REPLACE RELEASE some AS SELECT count(*) AS n FROM orders WHERE qty < %s"
    assert len(connection.execute(made, [30]).fetchall()) == 1


def test_catalogue_queries_take_them_and_nothing_is_charged(
    connection: psycopg.Connection,
) -> None:
    listed = "SELECT relname FROM pg_class WHERE relname = 'orders' OPTIONS (epsilon = 0.1)"
    assert connection.execute(listed).fetchall() == [("orders",)]


@pytest.mark.parametrize(
    ("options", "place"),
    [("epsilom = 1", "epsilom"), ("groups = -1", "-1"), ("groups = 2, groups = 3", "groups = 3")],
)
def test_a_refusal_points_into_what_was_written(
    connection: psycopg.Connection, options: str, place: str
) -> None:
    sql = f"{COUNT} OPTIONS ({options})"
    with pytest.raises(psycopg.Error) as refused:
        connection.execute(sql.encode())
    position = refused.value.diag.statement_position
    assert position is not None
    assert sql[int(position) - 1 :].startswith(place)


@pytest.mark.parametrize(
    ("sql", "names", "row"),
    [
        ("SHOW TABLES", ["name", "rows of"], ("orders", "customer")),
        ("DESCRIBE public.orders;", ["column_name", "column_type"], ("qty", "INTEGER")),
    ],
)
def test_the_schema_is_shown_by_both_protocols(
    connection: psycopg.Connection, sql: str, names: list[str], row: tuple[str, ...]
) -> None:
    raw = connection.pgconn
    raw.prepare(b"shown", sql.encode())
    told = raw.describe_prepared(b"shown")
    assert [told.fname(n) for n in range(2)] == [name.encode() for name in names]
    for prepare in (False, True):
        cursor = connection.execute(sql.encode(), prepare=prepare)
        assert row in [found[:2] for found in cursor.fetchall()]


def test_a_summary_is_refused_with_what_to_ask(connection: psycopg.Connection) -> None:
    with pytest.raises(psycopg.Error) as refused:
        connection.execute("SUMMARIZE orders")
    assert refused.value.sqlstate == "0A000"
    assert "SELECT count(*)" in (refused.value.diag.message_hint or "")
