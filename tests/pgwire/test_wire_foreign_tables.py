"""PostgreSQL reads dpsql's tables as foreign ones: what postgres_fdw pushes down is answered."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
from pgwire.matrix.two_servers import Servers, both
from pgwire.shop import Served

psycopg = pytest.importorskip("psycopg")


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    with both(tmp_path_factory.mktemp("foreign")) as running:
        yield running


@pytest.fixture(scope="module")
def foreign(servers: Servers) -> Iterator[Any]:
    """A connection to PostgreSQL, which has the tables of dpsql in a schema of their own."""
    url = os.environ["DPSQL_POSTGRES"]
    with psycopg.connect(url, dbname=servers.database, autocommit=True) as connection:
        try:
            connection.execute("CREATE EXTENSION postgres_fdw")
        except psycopg.Error:
            pytest.skip("PostgreSQL has no postgres_fdw")
        connection.execute(
            "CREATE SERVER dpsql FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '127.0.0.1',"
            f" port '{servers.ours}', dbname '{servers.database}')"
        )
        connection.execute(
            "CREATE USER MAPPING FOR CURRENT_USER SERVER dpsql"
            " OPTIONS (user 'alice', password_required 'false')"
        )
        connection.execute("CREATE SCHEMA private")
        connection.execute("IMPORT FOREIGN SCHEMA public FROM SERVER dpsql INTO private")
        yield connection


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM {}.regions ORDER BY 1",
        "SELECT * FROM {}.t ORDER BY id",
        "SELECT count(*), sum(region_id) FROM {}.regions",
        "SELECT name FROM {}.regions WHERE region_id > 1 AND name LIKE 'r%' ORDER BY 1 LIMIT 2",
        "SELECT g, (SELECT name FROM {}.regions WHERE region_id = g) FROM generate_series(1, 3) g",
        "SELECT id FROM {}.t WHERE day = '2024-01-02' OR f < 1.0 OR d = 1.01 OR b ORDER BY 1",
        "SELECT id, name FROM {0}.t JOIN {0}.regions ON id = region_id AND day > '2024-01-01'",
    ],
)
def test_public_rows_are_those_of_postgresql(foreign: Any, sql: str) -> None:
    assert foreign.execute(sql.format("private")).fetchall() == (
        foreign.execute(sql.format("public")).fetchall()
    )


def test_a_prepared_statement_has_parameters_of_its_cursor(foreign: Any) -> None:
    foreign.execute("SET plan_cache_mode = force_generic_plan")
    foreign.execute(
        "PREPARE named(bigint) AS SELECT name FROM private.regions WHERE region_id = $1"
    )
    told = [foreign.execute(f"EXECUTE named({n})").fetchall() for n in (2, 3)]
    assert told == [[("region 2",)], [("region 3",)]]


JOINED = "(orders r1 INNER JOIN customers r2 ON (((r1.customer_id = r2.id)){}))"
SINCE = "((r1.ts >= '2023-03-01 00:00:00'))"


@pytest.mark.parametrize(
    "source",
    [
        JOINED.format(f" AND {SINCE}"),
        f"({JOINED.format('')} LEFT JOIN regions r3 ON (r3.region_id = 1)) WHERE {SINCE}",
    ],
)
def test_constants_have_types_of_columns_of_a_join_in_parentheses(
    server: Served, source: str
) -> None:
    """postgres_fdw writes joins so, and moments and days as texts."""
    sql = f"SELECT r1.status, count(*) FROM {source} GROUP BY 1"
    with psycopg.connect(server.dsn) as connection:
        assert {status for status, _ in connection.execute(sql)} >= {"new", "paid", "shipped"}


def test_groups_of_units_are_pushed_down_and_their_rows_are_refused(foreign: Any) -> None:
    sql = "SELECT status, count(*) FROM private.orders WHERE qty > 10 GROUP BY 1"
    statuses = {status for status, _ in foreign.execute(sql).fetchall()}
    assert statuses >= {"new", "paid", "shipped", "cancelled"}
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="list rows of orders"):
        foreign.execute("SELECT * FROM private.orders LIMIT 1")
