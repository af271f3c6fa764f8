"""DECIDE over the wire: typed rows, prepared statements, errors at their places, kept releases."""

from __future__ import annotations

import datetime as dt

import pytest
from pgwire.shop import Served

psycopg = pytest.importorskip("psycopg")

DECIDE = "DECIDE AMONG amount AS pay, 100 AS insure FROM orders BY date_trunc('year', ts)"
FREE = "DECIDE AMONG qty AS q, 5 AS r FROM orders"
YEARS = [dt.datetime(year, 1, 1, tzinfo=None) for year in (2023, 2024, 2025)]  # noqa: DTZ001 - SQL's


def test_a_decision_comes_as_rounds_and_names(server: Served) -> None:
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        cursor = connection.execute(DECIDE)
        assert [column.name for column in cursor.description][1] == "expert"
        assert cursor.description[1].type_display == "text"
        rows = cursor.fetchall()
        assert [year for year, _ in rows] == YEARS
        assert {expert for _, expert in rows} <= {"pay", "insure"}
        # Stored: the same in text and in binary, simple and prepared.
        assert connection.execute(DECIDE, binary=True, prepare=True).fetchall() == rows
        plan = "\n".join(line for (line,) in connection.execute(f"EXPLAIN PRIVACY {DECIDE}"))
        assert "one of 2 experts is chosen in each of 3 rounds" in plan


def test_parameters_are_bound_and_places_are_told(server: Served) -> None:
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        sql = "DECIDE AMONG qty AS q, %s AS r FROM orders WHERE qty < %s BY status"
        rows = connection.execute(sql, (50, 90)).fetchall()
        assert [status for status, _ in rows] == ["cancelled", "new", "paid", "shipped"]
        with pytest.raises(psycopg.errors.UndefinedColumn) as refused:
            connection.execute(f"{FREE} BY nowhere")
        assert refused.value.diag.statement_position == str(len(f"{FREE} BY n"))
        with pytest.raises(psycopg.errors.SyntaxError, match="DECIDE isn't written so"):
            connection.execute(FREE)


def test_a_decision_is_kept_as_a_table(server: Served) -> None:
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        connection.execute(f"CREATE RELEASE yearly AS {DECIDE}")
        kept = "SELECT expert, count(*) FROM yearly GROUP BY 1"
        assert sum(n for _, n in connection.execute(kept).fetchall()) == 3
        connection.execute("DROP RELEASE yearly")
