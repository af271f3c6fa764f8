"""CALIBRATE over the wire: typed rows, prepared statements, places of errors, ladders as tables."""

from __future__ import annotations

import pytest
from pgwire.shop import Served

psycopg = pytest.importorskip("psycopg")

CALIBRATE = "CALIBRATE orders MEASURE amount BY status FOR 0.2 AS by_status"


def test_ladders_come_as_rows_and_are_stored(server: Served) -> None:
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        cursor = connection.execute(CALIBRATE)
        assert [column.name for column in cursor.description] == ["part", "up_to", "key", "count"]
        types = [column.type_display for column in cursor.description]
        assert types == ["text", "float8", "text", "int8"]
        rows = cursor.fetchall()
        assert {part for part, *_ in rows} >= {"groups of a unit", "sums of a unit in a group"}
        # Stored: the same in text and in binary, simple and prepared.
        assert connection.execute(CALIBRATE, binary=True, prepare=True).fetchall() == rows
        parts = connection.execute("SELECT part, count(*) FROM by_status GROUP BY 1").fetchall()
        assert sum(number for _, number in parts) == len(rows)
        connection.execute("DROP LADDER by_status")


def test_its_price_is_told_and_what_it_refuses(server: Served) -> None:
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        plan = "\n".join(line for (line,) in connection.execute(f"EXPLAIN PRIVACY {CALIBRATE}"))
        assert "cost: epsilon = 0.2" in plan or "cost: epsilon = 0.19999" in plan
        with pytest.raises(psycopg.errors.SyntaxError, match="CALIBRATE isn't written so"):
            connection.execute("CALIBRATE orders BY status")
        with pytest.raises(psycopg.errors.UndefinedColumn):
            connection.execute("CALIBRATE orders BY nowhere FOR 0.2")
        with pytest.raises(psycopg.errors.UndefinedTable):
            connection.execute("CALIBRATE nothing FOR 0.2")
