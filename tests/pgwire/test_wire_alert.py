"""ALERT over the wire: typed rows, or none; prepared statements, errors at their places."""

from __future__ import annotations

import pytest
from pgwire.shop import Served

psycopg = pytest.importorskip("psycopg")

ALERT = "ALERT WHEN count(*) > -100000 AS some, sum(qty) > 1e9 AS most FROM orders BY status"


def test_an_alert_comes_as_groups_and_names(server: Served) -> None:
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        cursor = connection.execute(ALERT)
        assert [column.name for column in cursor.description] == ["status", "alert"]
        assert cursor.description[1].type_display == "text"
        rows = cursor.fetchall()
        assert rows == [("cancelled", "some")]
        # Stored: the same in text and in binary, simple and prepared.
        assert connection.execute(ALERT, binary=True, prepare=True).fetchall() == rows
        none = connection.execute("ALERT WHEN count(*) > 900000 FROM orders")
        assert none.fetchall() == []


def test_parameters_are_bound_and_places_are_told(server: Served) -> None:
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        sql = "ALERT WHEN count(*) FILTER (WHERE qty < %s) > -99999 FROM orders WHERE qty < %s"
        assert len(connection.execute(sql, (50, 90)).fetchall()) == 1
        wrong = "ALERT WHEN count(*) > 5 FROM orders BY nowhere"
        with pytest.raises(psycopg.errors.UndefinedColumn) as refused:
            connection.execute(wrong)
        assert refused.value.diag.statement_position == str(1 + wrong.index("nowhere"))
        with pytest.raises(psycopg.errors.SyntaxError, match="a condition compares"):
            connection.execute("ALERT WHEN avg(qty) > 5 FROM orders")


def test_an_alert_is_kept_as_a_table(server: Served) -> None:
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        connection.execute(f"CREATE RELEASE alerts AS {ALERT}")
        kept = "SELECT alert, count(*) FROM alerts GROUP BY 1"
        assert connection.execute(kept).fetchall() == [("some", 1)]
        connection.execute("DROP RELEASE alerts")


def test_an_alert_that_is_saved_is_checked_for_nothing(server: Served) -> None:
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        made = connection.execute(
            "CREATE ALERT any_order WHEN count(*) > -100000 AS some FROM orders BY status"
            " WITH (epsilon = 0.1)"
        )
        assert [column.name for column in made.description] == ["alert", "names", "error"]
        assert made.fetchall()[0][:2] == ("any_order", 1)
        for prepare in (True, False):
            cursor = connection.execute("CHECK ALERT any_order", prepare=prepare)
            assert [column.name for column in cursor.description] == ["status", "alert"]
            assert cursor.fetchall() == [("cancelled", "some")]
        for shown in ("SHOW ALERTS", "SHOW dpsql.alerts"):
            ((name, _, checks, *_),) = connection.execute(shown).fetchall()
            assert (name, checks) == ("any_order", 1)
        connection.execute("DROP ALERT any_order")
        with pytest.raises(psycopg.errors.UndefinedObject, match="no alert any_order"):
            connection.execute("CHECK ALERT any_order")
