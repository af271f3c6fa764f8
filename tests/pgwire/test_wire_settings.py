"""set_config() and current_setting() are those of the session, and not of the catalogue."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pgwire.shop import Served

from dpsql.pgwire.settings.setting_calls import setting_calls
from dpsql.pgwire.sql.translate import Translated

psycopg = pytest.importorskip("psycopg")


@pytest.fixture
def connection(server: Served) -> Iterator[Any]:
    with psycopg.connect(server.dsn, autocommit=True) as found:
        yield found


def one(connection: Any, sql: str, *values: object) -> Any:
    row = psycopg.RawCursor(connection).execute(sql, values).fetchone()
    return row[0] if len(row) == 1 else row


def test_a_function_sets_what_set_would(connection: Any) -> None:
    sets = "SELECT set_config('application_name', 'chart', false)"
    assert one(connection, sets) == "chart"
    assert connection.info.parameter_status("application_name") == "chart"
    assert one(connection, "SHOW application_name") == "chart"
    assert one(connection, "SELECT current_setting('application_name')") == "chart"
    sets = "SELECT pg_catalog.set_config($1, $2, $3), current_setting('Application_Name') AS b"
    assert one(connection, sets, "application_name", "other", False) == ("other", "other")
    assert one(connection, "SELECT set_config('my.user', 'x', false)") == "x"
    assert one(connection, "SELECT current_setting('my.user', true)") == "x"


def test_a_loss_that_a_function_sets_is_paid(connection: Any) -> None:
    usual = one(connection, "SHOW dpsql.epsilon")
    assert one(connection, "SELECT set_config('dpsql.epsilon', '0.25', false)") == "0.25"
    assert one(connection, "SHOW dpsql.epsilon") == "0.25" != usual
    assert one(connection, "SELECT current_setting('dpsql.epsilon')") == "0.25"
    assert one(connection, "SELECT set_config('dpsql.epsilon', NULL, false)") == usual
    with pytest.raises(psycopg.Error):
        connection.execute("SELECT set_config('dpsql.epsilon', 'much', false)")
    assert one(connection, "SHOW dpsql.epsilon") == usual


def test_what_a_function_sets_locally_ends_with_the_transaction(connection: Any) -> None:
    sets = "SELECT set_config('dpsql.epsilon', '0.25', true)"
    usual = one(connection, "SHOW dpsql.epsilon")
    assert one(connection, sets) == "0.25"
    assert one(connection, "SHOW dpsql.epsilon") == usual
    with connection.transaction():
        assert one(connection, sets) == "0.25"
        assert one(connection, "SHOW dpsql.epsilon") == "0.25"
    assert one(connection, "SHOW dpsql.epsilon") == usual


@pytest.mark.parametrize(
    ("style", "told", "value"),
    [
        ("IntervalStyle = 'iso_8601'", "postgres", "interval '1 day 02:00:00'"),
        ("IntervalStyle = sql_standard", "postgres", "interval '1 day 02:00:00'"),
        ("DateStyle = 'SQL, DMY'", "ISO, MDY", "date '2024-01-31'"),
    ],
)
def test_values_are_written_as_their_style_is_told(
    connection: Any, style: str, told: str, value: str
) -> None:
    # A client that was told of another style refuses or misreads what is written in this one.
    written = one(connection, f"SELECT {value} AS written")
    connection.execute(f"SET {style}")
    name = style.split(maxsplit=1)[0]
    assert connection.info.parameter_status(name) == one(connection, f"SHOW {name}") == told
    assert one(connection, f"SELECT {value} AS written") == written


@pytest.mark.parametrize(
    ("sql", "state"),
    [
        ("SELECT set_config('nothing', 'x', false)", "42704"),
        ("SELECT set_config('all', NULL, false)", "42704"),
        ("SELECT current_setting('nothing')", "42704"),
        ("SELECT set_config('server_version', '16', false)", "55P02"),
        ("SELECT set_config('dpsql.epsilon', '0.25', false), oid FROM pg_class", "0A000"),
        ("COPY (SELECT set_config('dpsql.epsilon', '0.25', false)) TO STDOUT", "0A000"),
    ],
)
def test_what_can_not_be_set_is_told(connection: Any, sql: str, state: str) -> None:
    usual = one(connection, "SHOW dpsql.epsilon")
    with pytest.raises(psycopg.Error) as raised:
        psycopg.ClientCursor(connection).execute(sql)
    assert raised.value.sqlstate == state
    assert one(connection, "SHOW dpsql.epsilon") == usual


def test_a_setting_that_is_not_there_may_be_asked_for(connection: Any) -> None:
    assert one(connection, "SELECT current_setting('nothing', true)") is None


def test_a_prepared_call_sets_each_time(connection: Any) -> None:
    wire = connection.pgconn
    assert wire.prepare(b"set", b"SELECT set_config('application_name', $1, false)").status == 1
    for name in (b"a", b"b", b"a"):
        assert wire.exec_prepared(b"set", [name]).get_value(0, 0) == name
        assert connection.info.parameter_status("application_name") == name.decode()


def test_no_tree_is_asked_for_of_a_text_without_such_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is read anew for a statement that differs from another in constants: 1 ms of each."""

    def tree(_: Translated) -> None:
        raise AssertionError("a stored answer would wait for a parser")

    monkeypatch.setattr(Translated, "tree", property(tree))
    sql = "SELECT region_id, count(*) FROM orders WHERE qty > 1 GROUP BY 1"
    assert setting_calls(Translated(sql, sql, None, None), {}) == ()
