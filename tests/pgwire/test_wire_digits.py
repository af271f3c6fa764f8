"""Numerics of more digits than a decimal has: an answer is exact, or refused before the charge."""

from __future__ import annotations

from typing import Any

import pytest
from pgwire.asked_of_both import asked
from pgwire.shop import Served

TOO_LONG = (
    "SELECT 99999999999999999999.9 * 99999999999999999999.9",
    "SELECT 99999999999999999999.9 * 99999999999999999999.9 FROM t",
    "SELECT d * d * d * d * d FROM t",
    "SELECT v * v * v FROM (SELECT d * d AS v FROM t) AS q",
    "SELECT sum(d) * sum(d) * sum(d) FROM t",
    "SELECT sum(d * 99999999999999999999999999999999.9) FROM t",
    "SELECT n::numeric * n::numeric * n::numeric FROM t",
    "SELECT d + 99999999999999999999999999999999999999 FROM t",
    "SELECT d * 1e36 FROM t",
    "SELECT d * 1e36 FROM t LIMIT 1",
    "SELECT 1234567890123456789012345678901234567890",
    "SELECT 12345678901234567890 * 12345678901234567890",
)
EXACT = {
    "SELECT (n << 2) + (i << 30) AS c FROM t WHERE id = 1": "-1073741796",
    "SELECT trunc(d, -8) + 1 AS c FROM t WHERE id = 5": None,
    "SELECT d * d AS c FROM t WHERE id = 1": "1.0201",
    "SELECT (d * 99999999) * (d * 99999999) AS c FROM t WHERE id = 4": "99999998000000010000.0000",
    "SELECT d * 1e20 AS c FROM t WHERE id = 3": "-334000000000000000000.00",
    "SELECT sum(d) * 1.19 AS c FROM t": "119.2023",
    "SELECT 1e5 AS c": "100000",
    "SELECT NULL::bigint + 1 AS c": None,
    "SELECT n + NULL::integer AS c FROM t WHERE id = 1": None,
}


@pytest.mark.parametrize("sql", TOO_LONG)
def test_what_may_have_more_digits_is_refused(ours: Any, sql: str) -> None:
    psycopg = pytest.importorskip("psycopg")
    with pytest.raises(psycopg.errors.FeatureNotSupported, match="38 digits"):
        asked(ours, sql)
    with pytest.raises(psycopg.errors.FeatureNotSupported, match="38 digits"):
        ours.execute(sql, binary=True)


def test_the_hint_is_answered(ours: Any) -> None:
    sql = "SELECT d::numeric(7,2) * d::numeric(7,2) * d::numeric(7,2) * d::numeric(7,2) AS c FROM t"
    assert asked(ours, f"{sql} WHERE id = 2").rows == (("39.06250000",),)
    assert asked(ours, "SELECT d::float8 * d * d * d * d AS c FROM t WHERE id = 2").rows


@pytest.mark.parametrize(("sql", "value"), EXACT.items())
def test_what_fits_is_exact(ours: Any, sql: str, value: str | None) -> None:
    assert asked(ours, sql).rows == ((value,),)


@pytest.mark.parametrize("sql", ["SELECT 2147483647 * 2", "SELECT 9223372036854775807 + 1 FROM t"])
def test_a_constant_that_overflows_is_out_of_range(ours: Any, sql: str) -> None:
    psycopg = pytest.importorskip("psycopg")
    with pytest.raises(psycopg.errors.NumericValueOutOfRange):
        asked(ours, sql)


def test_a_refusal_is_no_charge(ours: Any) -> None:
    psycopg = pytest.importorskip("psycopg")
    before = ours.execute("SHOW dpsql.budget").fetchall()
    many = " * ".join(["count(*)::numeric"] * 3)
    with pytest.raises(psycopg.errors.FeatureNotSupported, match="38 digits"):
        ours.execute(f"SELECT {many} FROM people")
    assert ours.execute("SHOW dpsql.budget").fetchall() == before


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT sum(amount * qty) FROM orders",
        "SELECT count(*) FROM orders WHERE amount * qty > 100",
        "SELECT sum(CASE WHEN paid THEN amount * qty * (1 - 0.05) ELSE 0 END) FROM orders",
        "SELECT count(*) FROM orders WHERE (amount - 5.5) * (qty + 1) * 0.33 > 10",
        "SELECT sum(amount) * 100.0 / sum(qty) FROM orders",
        "SELECT count(*) FROM orders WHERE amount::numeric(19,2) * id > 10",
    ],
)
def test_declared_bounds_show_that_products_fit(server: Served, sql: str) -> None:
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        assert connection.execute(sql).fetchone()[0] is not None


def test_a_private_product_without_bounds_is_refused(server: Served) -> None:
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        spent = connection.execute("SHOW dpsql.budget").fetchall()
        sql = "SELECT count(*) AS n FROM orders WHERE amount * id * id > 10"
        for written in (sql, f"CREATE RELEASE long AS {sql}"):
            with pytest.raises(psycopg.errors.FeatureNotSupported, match="38 digits"):
                psycopg.ClientCursor(connection).execute(written)
        assert connection.execute("SHOW dpsql.budget").fetchall() == spent
