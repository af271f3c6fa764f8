"""Transactions and savepoints revert what PostgreSQL reverts, and fail where it fails."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
from pgwire.shop import Served

from dpsql.errors import Span
from dpsql.pgwire.settings.session_settings import (
    MAX_SAVEPOINTS,
    MAX_SETTINGS,
    SessionSettings,
    TooManySettings,
    UnknownSetting,
)

NAME = "application_name"
LEVEL = "SHOW transaction_isolation"
LATER = "SET SESSION CHARACTERISTICS AS TRANSACTION"
SCRIPTS = {
    "a savepoint's settings": (
        f"BEGIN|SET {NAME} = 'a'|SAVEPOINT s|SET {NAME} = 'b'|ROLLBACK TO s|SHOW {NAME}|COMMIT"
        f"|SHOW {NAME}"
    ),
    "nothing to go back to": "BEGIN|SELECT 1 FROM nowhere|ROLLBACK TO s|SELECT 1|COMMIT|SELECT 2",
    "a savepoint is released once": "BEGIN|SAVEPOINT s|RELEASE s|RELEASE SAVEPOINT s|COMMIT",
    "savepoints behind one go with it": "BEGIN|SAVEPOINT a|SAVEPOINT b|ROLLBACK TO a|RELEASE b|END",
    "one of two names": "BEGIN|SAVEPOINT a|SAVEPOINT a|RELEASE a|ROLLBACK TO a|RELEASE a|COMMIT",
    "names are folded": 'BEGIN|SAVEPOINT "A b"|ROLLBACK TO SAVEPOINT "A b"|SAVEPOINT S|RELEASE s',
    "names that are words": (
        "BEGIN|SAVEPOINT work|ROLLBACK WORK TO work|RELEASE transaction|ROLLBACK TO work"
        "|RELEASE savepoint|ROLLBACK TO SAVEPOINT transaction|COMMIT WORK|END TRANSACTION"
    ),
    "outside of a transaction": "SAVEPOINT s|RELEASE s|ROLLBACK TO s|COMMIT AND CHAIN|SELECT 1",
    "a failed one": "BEGIN|SAVEPOINT s|SELECT 1 FROM nowhere|RELEASE s|SAVEPOINT t|ROLLBACK TO s",
    "a chain": "BEGIN|COMMIT AND CHAIN|ROLLBACK WORK AND CHAIN|ABORT AND NO CHAIN|ROLLBACK",
    "a chain behind a failure": "BEGIN|SELECT 1 FROM nowhere|COMMIT AND CHAIN|SELECT 1|COMMIT",
    "SET LOCAL outside": f"SET LOCAL {NAME} = 'x'|SHOW {NAME}",
    "SET LOCAL inside": f"BEGIN|SET LOCAL {NAME} = 'x'|SHOW {NAME}|COMMIT|SHOW {NAME}",
    "SET behind SET LOCAL": f"BEGIN|SET LOCAL {NAME} = 'x'|SET {NAME} = 'y'|COMMIT|SHOW {NAME}",
    "one message is a transaction": f"SET {NAME} = 'x'; SELECT 1 FROM nowhere|SHOW {NAME}",
    "SET LOCAL in one message": f"SET LOCAL {NAME} = 'x'; SHOW {NAME}|SHOW {NAME}",
    "a message that begins one": f"SET {NAME} = 'x'; BEGIN; SELECT 1|ROLLBACK|SHOW {NAME}",
    "a message that ends one": f"BEGIN|SET {NAME} = 'x'; COMMIT; SELECT 1 FROM nowhere|SHOW {NAME}",
    "cursors of a savepoint": (
        "BEGIN|DECLARE a CURSOR FOR SELECT 1|SAVEPOINT s|DECLARE b CURSOR FOR SELECT 2|FETCH b"
        "|SELECT 1 FROM nowhere|ROLLBACK TO s|DECLARE b CURSOR FOR SELECT 3|FETCH b|FETCH a|COMMIT"
    ),
    "a level": f"BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY|{LEVEL}|COMMIT|{LEVEL}",
    "a level without commas": (
        "START TRANSACTION READ ONLY NOT DEFERRABLE ISOLATION LEVEL READ UNCOMMITTED"
        "|SHOW TRANSACTION ISOLATION LEVEL|ROLLBACK"
    ),
    "a level that is chained": (
        f"BEGIN WORK ISOLATION LEVEL SERIALIZABLE|COMMIT AND CHAIN|{LEVEL}|COMMIT|BEGIN|{LEVEL}|END"
    ),
    "a level that is set": (
        f"BEGIN|SET TRANSACTION ISOLATION LEVEL SERIALIZABLE, DEFERRABLE|{LEVEL}"
        "|SHOW transaction_deferrable|SELECT current_setting('transaction_isolation')|COMMIT"
        f"|{LEVEL}|SHOW transaction_deferrable"
    ),
    "a level of those that follow": (
        f"BEGIN|{LATER} ISOLATION LEVEL SERIALIZABLE DEFERRABLE|{LEVEL}|COMMIT|{LEVEL}"
        "|SHOW default_transaction_isolation|SHOW default_transaction_deferrable"
        f"|BEGIN ISOLATION LEVEL READ COMMITTED|{LEVEL}|SHOW transaction_deferrable|ROLLBACK"
        f"|RESET ALL|{LEVEL}|SHOW transaction_deferrable"
    ),
    "a level of those that follow, rolled back": (
        f"BEGIN|{LATER} ISOLATION LEVEL SERIALIZABLE|ROLLBACK|{LEVEL}"
    ),
    "a level by its setting": (
        f"SET default_transaction_isolation = 'REPEATABLE READ'|{LEVEL}|BEGIN|{LEVEL}"
        f"|SET transaction_isolation = 'serializable'|{LEVEL}|END|{LEVEL}"
        f"|RESET default_transaction_isolation|{LEVEL}"
    ),
    "a level outside": f"SET TRANSACTION ISOLATION LEVEL SERIALIZABLE|{LEVEL}",
    "levels that there aren't": (
        "BEGIN ISOLATION LEVEL NONSENSE|BEGIN ISOLATION LEVEL|BEGIN READ|BEGIN IMMEDIATE|BEGIN ,"
        "|START|SET TRANSACTION|SET TRANSACTION ISOLATION LEVEL SERIALIZABLE,"
        f"|SET default_transaction_isolation = nonsense|{LATER} NONSENSE|{LEVEL}"
    ),
    "an argument that is a boolean": (
        "SELECT set_config('my.x', 'a', 'of')|SELECT current_setting('my.x')"
        "|SELECT set_config('my.x', 'b', 'nope')|SELECT set_config('my.x', 'c', '')"
        "|SELECT set_config('my.x', 'd', ' tr ')|SELECT current_setting('my.y', 'y')"
    ),
    "DISCARD": "DISCARD TEMPORARY|DISCARD PLANS|RESET ROLE|RESET SESSION AUTHORIZATION",
}


@pytest.fixture
def both(server: Served) -> Iterator[tuple[Any, Any]]:
    """A connection to dpsql, and one to PostgreSQL."""
    psycopg = pytest.importorskip("psycopg")
    if not os.environ.get("DPSQL_POSTGRES"):
        pytest.skip("DPSQL_POSTGRES names no server")
    with (
        psycopg.connect(server.dsn, autocommit=True, application_name="") as ours,
        psycopg.connect(
            os.environ["DPSQL_POSTGRES"], autocommit=True, application_name=""
        ) as theirs,
    ):
        yield ours, theirs


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_a_transaction_is_postgresqls(both: tuple[Any, Any], script: str) -> None:
    ours, theirs = ([_told(c, sql) for sql in script.split("|")] for c in both)
    assert ours == theirs


def _told(connection: Any, sql: str) -> tuple[object, ...]:
    """SQLSTATE or tag and rows of what a simple query answers, and what the transaction is then."""
    from psycopg.pq import DiagnosticField

    wire = connection.pgconn
    result = wire.exec_(sql.encode())
    rows = [[result.get_value(r, c) for c in range(result.nfields)] for r in range(result.ntuples)]
    state = result.error_field(DiagnosticField.SQLSTATE)
    name = wire.parameter_status(b"application_name")
    return state, result.command_status, rows, wire.transaction_status, name


def test_a_loss_that_is_set_locally_ends_with_what_it_is_local_to(server: Served) -> None:
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(server.dsn, autocommit=True) as connection:

        def epsilon(*statements: str) -> list[str]:
            answers: list[Any] = []
            for sql in (*statements, "SHOW dpsql.epsilon"):
                cursor = psycopg.ClientCursor(connection)
                cursor.execute(sql)
                answers = cursor.fetchall() if cursor.description else []
            return [str(value) for row in answers for value in row]

        usual = epsilon()
        assert epsilon("SET LOCAL dpsql.epsilon = 0.25") == usual
        assert epsilon("BEGIN", "SET LOCAL dpsql.epsilon = 0.25") == ["0.25"]
        assert epsilon("COMMIT") == usual
        assert epsilon("BEGIN", "SAVEPOINT s", "SET dpsql.epsilon = 0.25", "ROLLBACK TO s") == usual
        assert epsilon("SET dpsql.epsilon = 0.25", "COMMIT") == ["0.25"]
        with pytest.raises(psycopg.Error):
            epsilon("SET dpsql.epsilon = 0.125; SELECT 1 FROM nowhere")
        assert epsilon() == ["0.25"]
        assert epsilon("SET LOCAL dpsql.epsilon = 0.125; SELECT 1") == ["0.25"]


def test_savepoints_and_settings_of_a_client_are_bounded() -> None:
    settings = SessionSettings({})
    settings.begin()
    for number in range(MAX_SAVEPOINTS):
        settings.save("s" * 80, frozenset([str(number)]))
    with pytest.raises(TooManySettings, match="savepoints"):
        settings.save("t", frozenset())
    assert settings.go_back("s" * 90)[1] == {str(MAX_SAVEPOINTS - 1)}
    for number in range(MAX_SETTINGS - len([*settings])):
        settings.set(f"my.s{number}", "x", Span(0, 0))
    with pytest.raises(TooManySettings, match="settings"):
        settings.set("my.other", "x", Span(0, 0))
    settings.set("dpsql.epsilon", "0.25", Span(0, 0))
    settings.set("my.s0", "y", Span(0, 0))
    with pytest.raises(UnknownSetting):
        settings.set(f"my.{'s' * 80}", "x", Span(0, 0))
    settings.end(keeps=False)
    assert "my.s0" not in [*settings]


def test_a_savepoint_has_the_settings_of_its_time() -> None:
    settings = SessionSettings({})
    settings.begin()
    for value in "abc":
        settings.set("my.name", value, Span(0, 0))
        settings.save(value, frozenset())
    settings.set("my.name", None, Span(0, 0))
    for value in "cba":
        settings.go_back(value)
        assert settings["my.name"] == value
