"""What an operator does with a server: stop it, watch it."""

from __future__ import annotations

import signal
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pgwire.pressure import connect, health, question
from pgwire.shop import Served, make, served
from pgwire.test_wire_protocol import startup
from waiting import HANGS_AFTER

psycopg = pytest.importorskip("psycopg")


def product(tables: int) -> str:
    rows = " CROSS JOIN ".join(f"regions r{n}" for n in range(tables))
    return f"SELECT sum(r0.region_id * r{tables - 1}.region_id) FROM {rows}"


@pytest.fixture(params=["50", "1"], ids=["in good time", "too late"])
def draining(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Served, bool]]:
    options = ("--statement-seconds", "55", "--drain-seconds", request.param)
    with served(tmp_path / "shop", *options) as found:
        yield found, request.param != "1"


def test_what_runs_ends_before_the_server_does(draining: tuple[Served, bool]) -> None:
    server, in_time = draining
    begun = threading.Event()

    def ask() -> object:
        with connect(server) as connection:
            connection.execute("SELECT count(*) FROM regions")
            begun.set()
            try:
                return connection.execute(product(14 if in_time else 18)).fetchall()
            except psycopg.Error as error:
                return error

    with (
        ThreadPoolExecutor(1) as pool,
        socket.create_connection(("127.0.0.1", server.port), timeout=HANGS_AFTER) as idle,
    ):
        idle.sendall(startup())
        asked = pool.submit(ask)
        begun.wait(HANGS_AFTER)
        time.sleep(0.5)
        server.process.send_signal(signal.SIGTERM)
        # Who asks nothing is told at once, and nobody else comes in.
        assert b"the server is stopping" in b"".join(iter(lambda: idle.recv(4096), b""))
        with pytest.raises(psycopg.OperationalError):
            connect(server)
        found = asked.result(60)
    if in_time:
        assert isinstance(found, list), found
        assert len(found) == 1
    else:
        assert isinstance(found, psycopg.errors.QueryCanceled)
        assert "the server is stopping; nothing was charged" in str(found)
    assert server.process.wait(HANGS_AFTER) == 0


def test_stopping_is_told(tmp_path: Path) -> None:
    with served(tmp_path / "shop"):
        pass
    said = (tmp_path / "shop" / "log").read_text()
    assert "stopping: 0 statements run, and have 8 s to end" in said


def test_health_has_failures_by_kind_charges_budget_and_disk(tmp_path: Path) -> None:
    options = ("--health-port", "0", "--health-host", "127.0.0.2")
    schema = make(tmp_path / "shop")
    schema.write_text(schema.read_text().replace("epsilon: 60", "epsilon: 1.2"))
    with served(tmp_path / "shop", *options) as server:
        with connect(server) as connection:
            before = told(server)
            connection.execute(question(1)).fetchall()
            for wrong in (
                "SELECT nothing FROM orders",
                "SELECT id FROM orders",
                "SELECT age( FROM",
            ):
                with pytest.raises(psycopg.Error):
                    connection.execute(wrong)
            connection.execute("SET dpsql.epsilon = 1")
            connection.execute(question(2)).fetchall()
            with pytest.raises(psycopg.Error, match="budget"):
                connection.execute(question(3))
            after = told(server)
        assert before["dpsql_ledger_up"] == 1
        assert before.get("dpsql_charges_total", 0) == 0
        assert after["dpsql_charges_total"] == 2
        assert 0 <= after["dpsql_budget_left_epsilon"] < 0.2
        assert after["dpsql_budget_spent_epsilon"] > 0
        assert after['dpsql_failures_total{kind="statement"}'] == 3
        assert after['dpsql_failures_total{kind="budget"}'] == 1
        assert after['dpsql_failures_total{kind="internal"}'] == 0
        for of in ("ledger", "anchor"):
            assert after[f'dpsql_disk_free_bytes{{of="{of}"}}'] > 0
        # The server has it open, so that its log is there.
        for name in ("ledger.db", "ledger.db-wal"):
            (server.folder / "state" / "shop" / name).write_bytes(b"no ledger" * 10_000)
        assert told(server)["dpsql_ledger_up"] == 0


def told(server: Served) -> dict[str, float]:
    return health(server, "127.0.0.2")
