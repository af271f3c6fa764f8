"""A server under idle, slow, wrong and hostile clients; the long form is run by pytest -m slow.

No time is asserted: a login that takes long fails by its client's own time limit. Figures are
printed by the long form, and go into the README.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import socket
import statistics
import struct
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pgwire.shop import Served, command, served
from pgwire.test_wire_protocol import VALID, message, startup

psycopg = pytest.importorskip("psycopg")


@dataclass(frozen=True, slots=True)
class Scale:
    idle: int
    active: int
    rounds: int
    slow: int
    mutated: int
    wrong: int
    cancels: int
    kills: int


SHORT = Scale(idle=20, active=6, rounds=3, slow=40, mutated=150, wrong=30, cancels=15, kills=3)
LONG = Scale(200, 50, 20, 500, 100_000, 1_000, 500, 200)
SCALES = [pytest.param(SHORT, id="short"), pytest.param(LONG, id="long", marks=pytest.mark.slow)]
scales = pytest.mark.parametrize("scale", SCALES)


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path / "shop", "--health-port", "0") as found:
        yield found


def told(figure: str) -> None:
    """Shown by pytest -s."""
    sys.stdout.write(f"{figure}\n")


def connect(server: Served, user: str = "dave") -> Any:
    return psycopg.connect(server.dsn.replace("alice", user), autocommit=True, connect_timeout=20)


def question(number: int) -> str:
    """Statements of the same price that aren't each other's answers."""
    return f"SELECT status, count(*) FROM orders WHERE qty <> {number} GROUP BY status"


def health(server: Served) -> dict[str, float]:
    assert server.health is not None
    with socket.create_connection(("127.0.0.1", server.health), timeout=10) as client:
        client.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
        told = b"".join(iter(lambda: client.recv(4096), b"")).decode().partition("\r\n\r\n")[2]
    return {
        name: float(value)
        for name, _, value in (line.partition(" ") for line in told.split("\n"))
        if name
    }


def memory(server: Served) -> int:
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0])


def assert_well(server: Served) -> None:
    """It answers, and its ledger replays entry by entry."""
    with connect(server, "erin") as connection:
        assert connection.execute("SELECT count(*) FROM regions").fetchone() == (4,)
    verified = command(server.folder, "ledger", "verify", str(server.schema))
    assert verified.returncode == 0, verified.stderr


@scales
def test_idle_and_active_clients_share_the_work(shop: Served, scale: Scale) -> None:
    idle = [connect(shop) for _ in range(scale.idle)]
    waits: list[list[float]] = [[] for _ in range(scale.active)]

    def work(me: int) -> None:
        with connect(shop) as connection:
            for turn in range(scale.rounds):
                begun = time.monotonic()
                connection.execute("SET dpsql.epsilon = 0.001")
                connection.execute(question(1000 * me + turn)).fetchall()
                waits[me].append(time.monotonic() - begun)

    with ThreadPoolExecutor(scale.active) as pool:
        list(pool.map(work, range(scale.active)))
    means = [statistics.mean(mine) for mine in waits]
    told(f"mean wait {statistics.mean(means):.2f} s, longest mean {max(means):.2f} s")
    assert health(shop)["dpsql_connections"] >= scale.idle
    for connection in idle:
        assert connection.execute("SELECT 1").fetchone() == (1,)
        connection.close()
    entries = command(shop.folder, "budget", str(shop.schema), "--format", "json").stdout
    assert entries.count("dave") >= scale.active * scale.rounds
    assert_well(shop)


@scales
def test_slow_clients_keep_nobody_out(shop: Served, scale: Scale) -> None:
    slow = [socket.create_connection(("127.0.0.1", shop.port), 20) for _ in range(scale.slow)]
    begin = startup()
    begun = time.monotonic()
    for turn in range(2):
        for client in slow:
            client.send(begin[turn : turn + 1])
        first = time.monotonic()
        assert_well(shop)
        told(f"login and answer beside {scale.slow} slow ones: {time.monotonic() - first:.2f} s")
    if scale is LONG:
        # After ten seconds whoever hasn't logged in is left.
        time.sleep(max(0.0, 15 - (time.monotonic() - begun)))
        assert all(not client.recv(1) for client in slow)
    for client in slow:
        client.close()


@scales
def test_mutated_messages_end_a_connection_at_most(shop: Served, scale: Scale) -> None:
    chance = random.Random(7)
    before = memory(shop)

    def attack(seed: int) -> None:
        mine = random.Random(seed)
        data = bytearray(VALID if mine.random() < 0.8 else startup())
        for _ in range(mine.randint(1, 6)):
            data[mine.randrange(len(data))] = mine.choice([0, 4, 0x7F, 0xFF, mine.randrange(256)])
        with socket.create_connection(("127.0.0.1", shop.port), timeout=20) as client:
            client.settimeout(20)
            try:
                client.sendall(
                    (startup() if mine.random() < 0.9 else b"") + bytes(data) + message("X")
                )
                client.shutdown(socket.SHUT_WR)
                while client.recv(65536):
                    pass
            except (ConnectionError, TimeoutError):
                pass

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(attack, (chance.randrange(2**32) for _ in range(scale.mutated))))
    told(f"memory {before} kB before, {memory(shop)} kB after {scale.mutated} mutated messages")
    assert shop.process.poll() is None
    assert_well(shop)


def test_a_query_of_64_megabytes_is_refused_and_the_connection_goes_on(shop: Served) -> None:
    with connect(shop) as connection:
        before = memory(shop)
        with pytest.raises(psycopg.errors.ProgramLimitExceeded):
            connection.execute("SELECT '" + "x" * (64 * 1024 * 1024) + "'")
        assert memory(shop) < before + 32 * 1024
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_deep_nesting_is_refused_and_the_connection_goes_on(shop: Served) -> None:
    depth = 10_000
    with connect(shop) as connection:
        for sql in (
            "SELECT " + "(" * depth + "1" + ")" * depth,
            "SELECT count(*) FROM orders WHERE " + "NOT " * depth + "paid",
            "SELECT * FROM pg_class WHERE oid = " + "(" * depth + "1" + ")" * depth,
        ):
            with pytest.raises(psycopg.Error) as raised:
                connection.execute(sql)
            assert raised.value.sqlstate in {"54001", "0A000", "42601"}, raised.value
        assert connection.execute("SELECT 1").fetchone() == (1,)


@scales
def test_a_storm_of_cancels_stops_statements_only(shop: Served, scale: Scale) -> None:
    with connect(shop) as connection:
        stop = threading.Event()

        def storm() -> None:
            while not stop.is_set():
                connection.cancel()

        stormy = threading.Thread(target=storm)
        stormy.start()
        outcomes = set()
        for number in range(scale.cancels):
            try:
                connection.execute(question(number))
                outcomes.add("answered")
            except psycopg.Error as error:
                outcomes.add(error.sqlstate)
        stop.set()
        stormy.join()
        time.sleep(0.5)
        assert outcomes <= {"answered", "57014"}
    # A cancel with a wrong secret stops nothing.
    with connect(shop) as connection, socket.create_connection(("127.0.0.1", shop.port)) as other:
        other.sendall(struct.pack("!iiIi", 16, 80877102, connection.info.backend_pid, 0))
        assert len(connection.execute(question(9999)).fetchall()) >= 4
    assert_well(shop)


@scales
def test_killed_workers_are_replaced_and_their_charges_stay(shop: Served, scale: Scale) -> None:
    stop = threading.Event()
    outcomes: list[str | None] = []

    def ask(me: int) -> None:
        number = 0
        with connect(shop) as connection:
            connection.execute("SET dpsql.epsilon = 0.001")
            while not stop.is_set():
                number += 1
                try:
                    connection.execute(question(1_000_000 * me + number))
                    outcomes.append("answered")
                except psycopg.Error as error:
                    outcomes.append(error.sqlstate)

    with ThreadPoolExecutor(3) as pool:
        asking = [pool.submit(ask, me) for me in range(3)]
        try:
            for turn in range(scale.kills):
                time.sleep(0.7)
                workers = shop.workers
                if workers:
                    os.kill(workers[turn % len(workers)], signal.SIGKILL)
            time.sleep(2)
        finally:
            stop.set()
        for one in asking:
            one.result()
    assert set(outcomes) <= {"answered", "XX000", "58000"}
    assert outcomes.count("answered") > 0
    assert_well(shop)
    found = health(shop)
    told(f"{len(outcomes)} statements, {found['dpsql_workers_replaced_total']} workers replaced")
    assert len(shop.workers) == 2


@pytest.mark.slow
def test_a_thousand_wrong_passwords_keep_nobody_out(tmp_path: Path) -> None:
    schema = tmp_path / "shop" / "schema.yaml"
    from pgwire.shop import make

    make(tmp_path / "shop")
    command(tmp_path / "shop", "user", "add", str(schema), "dave", stdin="a password\n")
    with served(tmp_path / "shop") as server:

        def guess(number: int) -> str:
            with pytest.raises(psycopg.OperationalError) as raised:
                psycopg.connect(server.dsn, user=f"u{number % 7}", password=f"guess {number}")
            return str(raised.value)

        with ThreadPoolExecutor(8) as pool:
            said = list(pool.map(guess, range(LONG.wrong)))
        assert sum("too many failed logins" in text for text in said) > LONG.wrong // 2


def test_the_schema_and_the_data_are_read_anew(shop: Served) -> None:
    import duckdb

    with connect(shop) as connection:
        assert connection.execute("SELECT count(*) FROM regions").fetchone() == (4,)
        first = connection.execute(question(1)).fetchall()
        # Workers hold the file; its next version takes its place at once.
        other = shutil.copy(shop.folder / "shop.duckdb", shop.folder / "next.duckdb")
        with duckdb.connect(str(other)) as data:
            data.execute("INSERT INTO regions VALUES (5, 'region 5')")
        Path(other).replace(shop.folder / "shop.duckdb")
        assert connection.execute("SELECT count(*) FROM regions").fetchone() == (5,)
        assert connection.execute(question(1)).fetchall() != first or first
        text = shop.schema.read_text()
        shop.schema.write_text(text.replace("      score: {type: double, bounds: [0, 1]}\n", ""))
        with pytest.raises(psycopg.errors.UndefinedColumn):
            connection.execute("SELECT avg(score) FROM orders")
        shop.schema.write_text("dataset: [")
        assert connection.execute("SELECT count(*) FROM regions").fetchone() == (5,)


def test_nothing_of_a_result_or_a_parameter_is_logged(tmp_path: Path) -> None:
    with served(tmp_path / "shop") as server, connect(server) as connection:
        connection.execute("SELECT count(*) FROM orders WHERE status = %s", ("canary",))
        with pytest.raises(psycopg.Error):
            connection.execute("SELECT count(*) FROM orders WHERE qty = %s::int", ("canary",))
        connection.execute("SELECT name AS found FROM regions").fetchall()
    said = (tmp_path / "shop" / "log").read_text()
    assert "canary" not in said
    assert "region 1" not in said
