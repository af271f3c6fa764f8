"""Kept tables over the wire: both protocols, the catalogue, SQLSTATEs, other connections."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pgwire.shop import Served, served

psycopg = pytest.importorskip("psycopg")

MADE = "CREATE RELEASE by_status AS SELECT status, count(*) AS n FROM orders GROUP BY status"


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path / "shop") as found:
        yield found


def test_it_is_made_read_listed_and_dropped(fresh: Served) -> None:
    with psycopg.connect(fresh.dsn, autocommit=True) as one:
        rows = one.execute(MADE).fetchall()
        assert len(rows) >= 3
        with psycopg.connect(fresh.dsn, autocommit=True) as other:
            assert set(other.execute("SELECT * FROM by_status").fetchall()) == set(rows)
            assert other.execute("SELECT max(n) / 2 FROM public.by_status").fetchone() == (
                max(n for _, n in rows) // 2,
            )
            listed = "SELECT relname, oid FROM pg_class WHERE relname IN ('by_status', 'orders')"
            (_, oid), _ = sorted(other.execute(listed).fetchall())
            columns = "SELECT attname FROM pg_attribute WHERE attrelid = %s AND attnum > 0"
            found = other.execute(columns, [oid]).fetchall()
            assert sorted(found) == [("n",), ("status",)]
            standard = (
                "SELECT column_name FROM information_schema.columns WHERE table_name = 'by_status'"
            )
            assert sorted(other.execute(standard).fetchall()) == [("n",), ("status",)]
            joined = (
                "SELECT s.status, count(*) FROM orders o JOIN by_status s ON o.status = s.status "
                "GROUP BY 1"
            )
            assert {row[0] for row in other.execute(joined)} == {row[0] for row in rows}
            shown = other.execute("SHOW dpsql.releases").fetchall()
            assert [row[:3] for row in shown] == [("by_status", "release", "alice")]
        assert one.execute("DROP RELEASE by_status").statusmessage == "DROP RELEASE"
        assert one.execute(listed).fetchall()[0][0] == "orders"
        with pytest.raises(psycopg.errors.UndefinedTable):
            one.execute("SELECT * FROM by_status")


def test_what_a_chart_shows_is_read_of_the_dashboard_by_any_connection(fresh: Served) -> None:
    chart = "SELECT status, count(*) FROM orders GROUP BY status"
    made = f"CREATE DASHBOARD board AS ({chart}; SELECT count(*) FROM orders) WITH (epsilon = 0.5)"
    sent = (
        'SELECT "status" AS "status", COUNT(*) AS "count" FROM "public"."orders"'
        ' GROUP BY "status" ORDER BY "count" DESC LIMIT 1000'
    )
    with psycopg.connect(fresh.dsn, autocommit=True) as one:
        one.execute(made)
    with psycopg.connect(fresh.dsn, autocommit=True) as other:
        spent = other.execute("SHOW dpsql.budget").fetchall()
        rows = other.execute(sent).fetchall()
        assert other.execute("SHOW dpsql.budget").fetchall() == spent
        kept = other.execute("SELECT status, sum(count) FROM board GROUP BY 1").fetchall()
        assert dict(rows) == {status: round(count) for status, count in kept}


def test_described_for_nothing_and_run_by_the_extended_protocol(fresh: Served) -> None:
    with psycopg.connect(fresh.dsn, autocommit=True) as connection:
        raw = connection.pgconn
        raw.prepare(b"made", MADE.encode())
        assert raw.describe_prepared(b"made").nfields == 2
        assert connection.execute("SHOW dpsql.releases").fetchall() == []
        assert raw.exec_prepared(b"made", None).ntuples >= 3
        raw.prepare(b"gone", b"DROP RELEASE IF EXISTS by_status")
        assert raw.describe_prepared(b"gone").nfields == 0
        raw.exec_prepared(b"gone", None)
        assert connection.execute("SHOW dpsql.releases").fetchall() == []


def test_a_synopsis_is_made_by_a_worker(fresh: Served) -> None:
    made = b"CREATE SYNOPSIS s ON SELECT status, paid FROM orders WITH (epsilon = 0.5)"
    with psycopg.connect(fresh.dsn, autocommit=True) as connection:
        raw = connection.pgconn
        raw.prepare(b"made", made)
        assert raw.describe_prepared(b"made").nfields == 3
        assert raw.exec_prepared(b"made", None).ntuples >= 8
        ((total,),) = connection.execute("SELECT sum(count) FROM s").fetchall()
        assert total > 0
        assert connection.execute("DROP SYNOPSIS s").statusmessage == "DROP SYNOPSIS"


def test_a_dashboard_is_made_of_charts_as_clients_write_them(fresh: Served) -> None:
    charts = "SELECT status, count(*) FROM orders GROUP BY status; SELECT count(*) AS n FROM orders"
    made = f"CREATE DASHBOARD board AS ({charts}) WITH (epsilon = 0.5)"
    with psycopg.connect(fresh.dsn, autocommit=True) as connection:
        raw = connection.pgconn
        raw.prepare(b"made", made.encode())
        assert raw.describe_prepared(b"made").nfields == 2
        assert raw.exec_prepared(b"made", None).ntuples >= 3
        text = "\n".join(line for (line,) in connection.execute(f"EXPLAIN PRIVACY {made}"))
        assert "2 charts are planned as one" in text
        ((total,),) = connection.execute("SELECT sum(n) FROM board").fetchall()
        assert total > 0
        assert connection.execute("DROP DASHBOARD board").statusmessage == "DROP DASHBOARD"
        # In one message, as psql sends what stands before a semicolon of its own.
        connection.execute(f"{made}; DROP DASHBOARD board")


@pytest.mark.parametrize(
    ("sql", "state"),
    [
        ("CREATE RELEASE orders AS SELECT count(*) AS n FROM orders", "42P07"),
        ("CREATE RELEASE pg_x AS SELECT count(*) AS n FROM orders", "42602"),
        ("CREATE RELEASE x AS SELECT count(*) AS n, 1 AS n FROM orders", "42701"),
        ("DROP RELEASE nothing", "42704"),
        ("CREATE TABLE x AS SELECT count(*) AS n FROM orders", "25006"),
        ("DROP TABLE orders", "25006"),
    ],
)
def test_refusals_have_sqlstates(server: Served, sql: str, state: str) -> None:
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        with pytest.raises(psycopg.Error) as refused:
            connection.execute(sql)
        assert refused.value.sqlstate == state
