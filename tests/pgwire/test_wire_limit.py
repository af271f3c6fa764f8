"""What one client may take: time and memory of a worker, places, idle time."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from pgwire.pressure import assert_well, connect, question
from pgwire.shop import Served, served
from pgwire.test_wire_protocol import startup
from waiting import HANGS_AFTER

psycopg = pytest.importorskip("psycopg")


def product(tables: int) -> str:
    """As many rows as 4 to the power of `tables`."""
    return " CROSS JOIN ".join(f"regions r{n}" for n in range(tables))


@pytest.fixture(scope="module")
def narrow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("narrow") / "shop"
    with served(folder, "--statement-seconds", "3", "--worker-memory", "256") as found:
        yield found


def test_a_statement_that_takes_too_long_is_stopped(narrow: Served) -> None:
    with connect(narrow) as connection:
        with pytest.raises(psycopg.errors.QueryCanceled, match="nothing was charged"):
            connection.execute(
                f"SELECT count(*), sum(r0.region_id * r17.region_id) FROM {product(18)}"
            )
        assert connection.execute("SELECT count(*) FROM regions").fetchone() == (4,)
        assert len(connection.execute(question(1)).fetchall()) == 5
    assert_well(narrow)


def test_a_statement_that_takes_too_much_memory_fails_without_a_reason(narrow: Served) -> None:
    names = " || ".join(f"r{n}.name" for n in range(11))
    with connect(narrow) as connection:
        with pytest.raises(psycopg.Error) as raised:
            connection.execute(f"SELECT count(DISTINCT {names}) FROM {product(11)}")
        assert raised.value.sqlstate in {"XX000", "58000", "57014"}
        assert "memory" not in str(raised.value).lower()
        assert len(connection.execute(question(2)).fetchall()) == 5
    assert_well(narrow)


def test_places_and_silence_have_an_end(tmp_path: Path) -> None:
    with served(tmp_path / "shop", "--connections", "2", "--idle-seconds", "4") as server:
        with (
            connect(server),
            connect(server),
            pytest.raises(psycopg.OperationalError, match="too many connections"),
        ):
            connect(server)
        with socket.create_connection(("127.0.0.1", server.port), timeout=HANGS_AFTER) as client:
            client.sendall(startup())
            said = b"".join(iter(lambda: client.recv(4096), b""))
        assert b"57P05" in said
        assert b"idle for too long: for 4 s, the server's limit" in said
