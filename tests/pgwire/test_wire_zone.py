"""What a client asks of its session is done, or refused: time zones, and the database's name."""

from __future__ import annotations

import pytest
from pgwire.shop import Served

psycopg = pytest.importorskip("psycopg")


@pytest.mark.parametrize("zone", ["UTC", "Etc/UTC", "GMT", "+00:00", "0"])
def test_utc_is_taken_by_all_its_names(server: Served, zone: str) -> None:
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        connection.execute(f"SET TIME ZONE '{zone}'")
        assert connection.execute("SHOW timezone").fetchone() == ("UTC",)


@pytest.mark.parametrize(
    ("zone", "error"),
    [
        ("Europe/Berlin", psycopg.errors.FeatureNotSupported),
        ("+02", psycopg.errors.FeatureNotSupported),
        ("Mars/Olympus", psycopg.errors.InvalidParameterValue),
    ],
)
def test_another_zone_is_refused(server: Served, zone: str, error: type[Exception]) -> None:
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        with pytest.raises(error):
            connection.execute(f"SET TIME ZONE '{zone}'")
        assert connection.execute("SHOW timezone").fetchone() == ("UTC",)


def test_a_driver_that_says_its_zone_at_login_is_told_that_it_is_utc(server: Served) -> None:
    with psycopg.connect(f"{server.dsn} options='-c timezone=Europe/Berlin'") as connection:
        assert connection.info.parameter_status("TimeZone") == "UTC"


def test_a_zone_that_there_is_not_is_refused_at_login(server: Served) -> None:
    with pytest.raises(psycopg.OperationalError, match="time zone"):
        psycopg.connect(f"{server.dsn} options='-c timezone=Mars/Olympus'")


def test_another_database_is_refused(server: Served) -> None:
    with pytest.raises(psycopg.OperationalError, match='"elsewhere" does not exist'):
        psycopg.connect(server.dsn.replace("dbname=shop", "dbname=elsewhere"))


def test_a_client_that_names_no_database_is_let_in(server: Served) -> None:
    with psycopg.connect(server.dsn.replace("dbname=shop", "")) as connection:
        assert connection.info.dbname == "alice"


def test_days_of_a_zone_are_groups_of_private_rows(server: Served) -> None:
    """All of them are listed: the last hours of the period are of one more day in Berlin."""
    days = "date_trunc('day', ts AT TIME ZONE 'UTC' AT TIME ZONE 'Europe/Berlin')"
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        found = connection.execute(
            f"SELECT {days} AS d, count(*) FROM orders"
            " WHERE ts >= '2025-03-29' AND ts < '2025-04-01' GROUP BY 1 ORDER BY 1"
        ).fetchall()
    assert [f"{day:%m-%d %H:%M}" for day, _ in found] == [
        *("03-29 00:00", "03-30 00:00", "03-31 00:00", "04-01 00:00")
    ]


def test_conversions_over_public_rows_run_where_dpsql_has_no_rule(server: Served) -> None:
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        row = connection.execute(
            "SELECT array_agg((timestamp '2024-10-27 02:30' + region_id * interval '1 minute')"
            " AT TIME ZONE 'Europe/Berlin' AT TIME ZONE 'America/New_York' ORDER BY region_id)"
            " FROM regions"
        ).fetchone()
    assert row is not None
    assert [f"{moment:%d %H:%M}" for moment in row[0][:2]] == ["26 21:31", "26 21:32"]


@pytest.mark.parametrize("zone", ["'Europe/Berlin'", "'+02'"])
def test_sessions_are_in_utc_and_no_function_changes_that(server: Served, zone: str) -> None:
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        for sql in (f"SELECT set_config('TimeZone', {zone}, false)", f"SET TIME ZONE {zone}"):
            with pytest.raises(psycopg.errors.FeatureNotSupported, match="AT TIME ZONE"):
                connection.execute(sql)
        sql = "SELECT set_config('TimeZone', 'UTC', false)"
        assert connection.execute(sql).fetchall() == [("UTC",)]
