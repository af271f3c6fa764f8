"""PREPARE and EXECUTE, cursors that go back, and settings without effect, as in PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pgwire.shop import Served

from dpsql.errors import Error
from dpsql.pgwire.sql import commands as c
from dpsql.pgwire.sql.cursor_statement import Direction, Fetch


@pytest.fixture
def connection(server: Served) -> Iterator[Any]:
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(server.dsn, autocommit=True, prepare_threshold=None) as found:
        yield psycopg.ClientCursor(found)


def rows(cursor: Any, *statements: str) -> list[Any]:
    """The rows of the last of `statements`, which are sent one by one."""
    for sql in statements:
        cursor.execute(sql)
    return list(cursor.fetchall())


def test_a_statement_is_prepared_and_executed(connection: Any) -> None:
    prepare = (
        "PREPARE named (int, text) AS SELECT name FROM regions WHERE region_id = $1 OR name = $2"
    )
    connection.execute(prepare)
    assert rows(connection, "EXECUTE named (2, 'region 4')") == [("region 2",), ("region 4",)]
    assert rows(connection, "EXECUTE named (-1::int, NULL)") == []
    connection.execute("DEALLOCATE named")
    connection.execute(prepare.replace("int, text", "pg_catalog.int4, pg_catalog.text"))
    assert rows(connection, "EXECUTE named (2, 'region 4')") == [("region 2",), ("region 4",)]
    connection.execute("DEALLOCATE named")
    psycopg = pytest.importorskip("psycopg")
    with pytest.raises(psycopg.errors.InvalidSqlStatementName):
        connection.execute("EXECUTE named (1, '')")


@pytest.mark.parametrize(
    ("sql", "state"),
    [
        ("PREPARE p AS SELECT nothing FROM regions", "42703"),
        ("PREPARE p (nosuchtype) AS SELECT $1", "42704"),
        ("PREPARE p SELECT 1", "42601"),
        ("PREPARE TRANSACTION 'x'", "25006"),
        ("EXECUTE p", "26000"),
    ],
)
def test_a_wrong_preparation_is_told(connection: Any, sql: str, state: str) -> None:
    psycopg = pytest.importorskip("psycopg")
    with pytest.raises(psycopg.Error) as raised:
        connection.execute(sql)
    assert raised.value.sqlstate == state


def test_values_of_execute_are_constants_and_as_many_as_parameters(connection: Any) -> None:
    psycopg = pytest.importorskip("psycopg")
    connection.execute("PREPARE counted AS SELECT name FROM regions WHERE region_id = $1")
    for sql, state in (("EXECUTE counted", "42601"), ("EXECUTE counted (1 + 1)", "0A000")):
        with pytest.raises(psycopg.Error) as raised:
            connection.execute(sql)
        assert raised.value.sqlstate == state
    connection.execute("DEALLOCATE ALL")


def test_execute_runs_queries_alone(connection: Any) -> None:
    psycopg = pytest.importorskip("psycopg")
    wire = connection.connection.pgconn
    assert wire.prepare(b"shown", b"SHOW timezone").status == psycopg.pq.ExecStatus.COMMAND_OK
    with pytest.raises(psycopg.NotSupportedError):
        connection.execute("EXECUTE shown")
    connection.execute("DEALLOCATE shown")


def test_an_executed_statement_is_charged_once(connection: Any) -> None:
    connection.execute("PREPARE private AS SELECT count(*) FROM orders WHERE qty > $1")
    first = rows(connection, "EXECUTE private (3)")
    assert rows(connection, "EXECUTE private (3)") == first
    connection.execute("DEALLOCATE private")


def test_a_cursor_goes_back(connection: Any) -> None:
    connection.execute("BEGIN")
    connection.execute("DECLARE c SCROLL CURSOR FOR SELECT region_id FROM regions ORDER BY 1")
    moves: tuple[tuple[str, list[int]], ...] = (
        ("FETCH 2 FROM c", [1, 2]),
        ("FETCH PRIOR FROM c", [1]),
        ("FETCH PRIOR FROM c", []),
        ("FETCH ALL FROM c", [1, 2, 3, 4]),
        ("FETCH BACKWARD 2 FROM c", [4, 3]),
        ("FETCH RELATIVE 0 FROM c", [3]),
        ("FETCH 0 FROM c", [3]),
        ("FETCH ABSOLUTE -2 FROM c", [3]),
        ("FETCH FIRST FROM c", [1]),
        ("FETCH LAST FROM c", [4]),
        ("FETCH FORWARD -1 FROM c", [3]),
        ("FETCH ABSOLUTE 9 FROM c", []),
        ("FETCH BACKWARD ALL FROM c", [4, 3, 2, 1]),
        ("FETCH NEXT c", [1]),
    )
    for sql, wanted in moves:
        assert [row[0] for row in rows(connection, sql)] == wanted, sql
    connection.execute("COMMIT")


def test_a_cursor_without_scroll_only_goes_forward(connection: Any) -> None:
    psycopg = pytest.importorskip("psycopg")
    connection.execute("BEGIN")
    declared = "DECLARE d NO SCROLL CURSOR FOR SELECT region_id FROM regions FOR READ ONLY"
    assert len(rows(connection, declared, "FETCH 3 FROM d")) == 3
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState):
        connection.execute("FETCH BACKWARD 1 FROM d")
    connection.execute("ROLLBACK")


@pytest.mark.parametrize(
    ("sql", "wanted"),
    [
        ("FETCH c", (Direction.FORWARD, 1)),
        ("FETCH FORWARD ALL IN c", (Direction.FORWARD, None)),
        ("FETCH -3 FROM c", (Direction.BACKWARD, 3)),
        ("FETCH BACKWARD c", (Direction.BACKWARD, 1)),
        ("MOVE ABSOLUTE + 2 FROM c", (Direction.ABSOLUTE, 2)),
    ],
)
def test_a_fetch_tells_where_to(sql: str, wanted: tuple[Direction, int | None]) -> None:
    command = c.read_command(sql)
    assert isinstance(command, Fetch)
    assert (command.direction, command.count) == wanted


@pytest.mark.parametrize("sql", ["FETCH SIDEWAYS FROM c", "FETCH ABSOLUTE FROM c"])
def test_a_fetch_that_is_not_written_so_is_told(sql: str) -> None:
    with pytest.raises(Error):
        c.read_command(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SET work_mem = '64MB'",
        "SET synchronize_seqscans TO off",
        "SET enable_seqscan = off",
        "SET TIME ZONE INTERVAL '+00:00' HOUR TO MINUTE",
    ],
)
def test_settings_that_change_no_answer_are_kept(connection: Any, sql: str) -> None:
    connection.execute(sql)


def test_a_text_that_is_cast_is_described_before_it_is_bound(connection: Any) -> None:
    psycopg = pytest.importorskip("psycopg")
    sql = b"SELECT name FROM regions WHERE CAST(CAST($1 AS text) AS date) > DATE '2020-01-01'"
    wire = connection.connection.pgconn
    assert wire.prepare(b"dated", sql).status == psycopg.pq.ExecStatus.COMMAND_OK
    assert wire.describe_prepared(b"dated").error_message == b""
    assert wire.exec_prepared(b"dated", [b"2024-05-06"]).ntuples == 4


def test_a_constant_may_have_a_cast_and_nothing_else() -> None:
    command = c.read_command("EXECUTE p (-1::int, '2'::varchar(3), NULL)")
    assert command == c.Execute("p", ("-1", "2", None))
    with pytest.raises(Error):
        c.read_command("EXECUTE p (1::int + 5)")


def test_a_cursor_has_the_parameters_of_its_query(server: Served) -> None:
    psycopg = pytest.importorskip("psycopg")
    sql = "SELECT region_id, name FROM regions WHERE region_id > %s ORDER BY 1"
    with (
        psycopg.connect(server.dsn) as connection,
        connection.cursor("named", binary=True) as cursor,
    ):
        cursor.execute(sql, [1])
        assert cursor.fetchmany(2) == [(2, "region 2"), (3, "region 3")]
        assert cursor.fetchall() == [(4, "region 4")]


def test_a_cursor_with_parameters_is_prepared_and_charged_when_it_is_read(server: Served) -> None:
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(server.dsn) as connection:
        wire = connection.pgconn
        sql = b"DECLARE held CURSOR WITH HOLD FOR SELECT count(*) FROM orders WHERE qty > $1"
        assert wire.prepare(b"declared", sql).error_message == b""
        described = wire.describe_prepared(b"declared")
        assert (described.nparams, described.param_type(0), described.nfields) == (1, 23, 0)
        for _ in range(2):
            left = connection.execute("SHOW dpsql.budget").fetchall()
            assert wire.exec_prepared(b"declared", [b"17"]).error_message == b""
            assert connection.execute("SHOW dpsql.budget").fetchall() == left
            assert len(connection.execute("FETCH ALL FROM held").fetchall()) == 1
            connection.execute("CLOSE held")
        assert (
            wire.exec_(b"EXECUTE declared (1)").error_field(psycopg.pq.DiagnosticField.SQLSTATE)
            == b"0A000"
        )


def test_a_binary_cursor_is_fetched_in_binary_by_a_simple_query(connection: Any) -> None:
    wire = connection.connection.pgconn
    connection.execute("BEGIN")
    connection.execute("DECLARE packed BINARY CURSOR FOR SELECT region_id FROM regions ORDER BY 1")
    fetched = wire.exec_(b"FETCH 1 FROM packed")
    assert (fetched.fformat(0), fetched.get_value(0, 0)) == (1, (1).to_bytes(8))
    assert wire.exec_params(b"FETCH 1 FROM packed", []).get_value(0, 0) == b"2"
    connection.execute("COMMIT")


@pytest.mark.parametrize(
    "before", ["DECLARE c CURSOR FOR ", "PREPARE p AS ", "COPY (", "SELECT 1; PREPARE p AS "]
)
def test_an_error_points_into_the_whole_statement(connection: Any, before: str) -> None:
    psycopg = pytest.importorskip("psycopg")
    sql = f"{before}SELECT nothing FROM regions{') TO STDOUT' * (before[-1] == '(')}"
    with pytest.raises(psycopg.Error) as raised:
        connection.execute(sql)
    assert raised.value.diag.statement_position == str(sql.index("nothing") + 1)


def test_copy_has_its_old_options(connection: Any) -> None:
    sql = "COPY regions (name, region_id) TO STDOUT WITH DELIMITER AS '|' NULL AS '-'"
    with connection.copy(sql) as copied:
        assert b"".join(copied).startswith(b"region 1|1\n")
