"""Statements over public tables alone, by the wire: as written, where nothing private is."""

from __future__ import annotations

import threading
import time

import psycopg
import pytest
from pgwire.asking import rows
from pgwire.shop import Served

from dpsql.errors import Error, TooComplex
from dpsql.pgwire.error_response import Cancelled
from dpsql.pgwire.query_service import QueryService
from dpsql.pgwire.shared_dataset import Dataset

LATERAL = (
    "SELECT r.name, s FROM regions r,"
    " LATERAL (SELECT sum(region_id) AS s FROM regions e WHERE e.region_id < r.region_id) x"
    " WHERE r.region_id > {} ORDER BY r.name"
)
ENDLESS = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT max(n) FROM r"


def test_a_client_gets_columns_rows_and_no_price(server: Served) -> None:
    told: list[str | None] = []
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        connection.add_notice_handler(lambda notice: told.append(notice.message_primary))
        spent = connection.execute("SHOW dpsql.budget").fetchall()
        found = connection.execute(LATERAL.format("%s"), [2])
        assert [column.name for column in found.description or ()] == ["name", "s"]
        assert found.fetchall() == [("region 3", 3), ("region 4", 6)]
        assert connection.execute("SHOW dpsql.budget").fetchall() == spent
    assert not told


RECURSIVE = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < {})"


@pytest.mark.parametrize(
    ("sql", "answer"),
    [
        (
            f"{RECURSIVE.format(2)} SELECT n, name FROM r JOIN public.regions ON region_id = n",
            [(1, "region 1"), (2, "region 2")],
        ),
        (
            "SELECT array_agg(region_id ORDER BY region_id) FROM shop.public.regions",
            [([1, 2, 3, 4],)],
        ),
        ("SELECT max(name) FROM regions WHERE region_id > ALL (SELECT 3)", [("region 4",)]),
        ("PIVOT regions ON name IN ('region 2') USING sum(region_id)", [(2,)]),
        ("SELECT count(*) FROM regions TABLESAMPLE 100 PERCENT", [(4,)]),
    ],
)
def test_statements_run_as_they_are_written(
    alice: QueryService, sql: str, answer: list[tuple[object, ...]]
) -> None:
    asked = alice.translate(sql)
    assert len(alice.columns(asked, ())) == len(answer[0])
    assert rows(alice, sql) == answer


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM regions r, LATERAL (SELECT count(*) FROM orders WHERE id = r.region_id) x",
        "SELECT array_agg(age) FROM customers",
        'SELECT array_agg(age) FROM "customers"',
        "WITH orders AS (SELECT 1 AS a) SELECT array_agg(a) FROM orders, regions",
        "WITH x AS (UPDATE regions SET name = '' RETURNING *) SELECT array_agg(name) FROM x",
        "SELECT array_agg(x) FROM read_text('/etc/passwd') AS t(x)",
    ],
)
def test_private_tables_files_and_writes_are_refused(alice: QueryService, sql: str) -> None:
    with pytest.raises(Error):
        rows(alice, sql)
    assert rows(alice, "SELECT array_agg(name ORDER BY name) FROM regions")[0][0] == (
        ["region 1", "region 2", "region 3", "region 4"]
    )


def test_time_and_memory_end_a_statement_and_not_the_server(
    alice: QueryService, dataset: Dataset
) -> None:
    with pytest.raises(TooComplex, match="took too long"):
        rows(alice, ENDLESS)
    with pytest.raises(TooComplex, match="too large"):
        rows(alice, "SELECT repeat(name, 400000000) FROM regions, LATERAL (SELECT 1) x")
    with pytest.raises(TooComplex, match="too large"):
        rows(alice, f"{RECURSIVE.format(200_000)} SELECT n, name FROM r, regions")
    assert len(rows(alice, LATERAL.format(0))) == 4
    assert dataset.pool.replaced == 0


def test_a_statement_can_be_cancelled(alice: QueryService) -> None:
    rows(alice, LATERAL.format(0))
    begun = time.monotonic()
    threading.Timer(0.5, alice.cancel).start()
    with pytest.raises(Cancelled, match="nothing was charged"):
        rows(alice, f"{RECURSIVE.format(10**9)} SELECT count(*) FROM r, regions")
    assert time.monotonic() - begun < 2.9
    assert len(rows(alice, LATERAL.format(0))) == 4
