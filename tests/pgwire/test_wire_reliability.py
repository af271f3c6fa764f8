"""A server under idle, slow, wrong and hostile clients.

The short form runs with all tests; the long one is `pytest -m slow tests/pgwire -s`, some 25
minutes, and with `--update-docs` its figures go into docs/server.md. No time is asserted: a login
that takes too long fails by its client's own limit.
"""

from __future__ import annotations

import base64
import os
import random
import signal
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from pgwire.inner_command import command
from pgwire.pressure import (
    ATTACKS,
    Witness,
    assert_exact,
    assert_well,
    connect,
    grown,
    health,
    memory,
    question,
    waits,
    write_row,
)
from pgwire.shop import Served, make, served
from pgwire.test_wire_protocol import VALID, message, startup
from waiting import HANGS_AFTER

psycopg = pytest.importorskip("psycopg")

Figures = Callable[..., None]


@dataclass(frozen=True, slots=True)
class Scale:
    idle: int
    active: int
    rounds: int
    slow: int
    slow_seconds: float
    mutated: int
    large: int
    wrong: int
    cancels: int
    kill_seconds: float


SHORT = Scale(20, 6, 3, 40, 2, 400, 1, 60, 15, 3)
LONG = Scale(200, 50, 20, 500, 60, 100_000, 10, 1_000, 500, 600)
AT_LENGTH = pytest.param(LONG, id="long", marks=pytest.mark.slow)
scales = pytest.mark.parametrize("scale", [pytest.param(SHORT, id="short"), AT_LENGTH])
scales_in_turn = pytest.mark.parametrize(
    "scale", [pytest.param(SHORT, id="short", marks=pytest.mark.in_turn), AT_LENGTH]
)


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path / "shop", "--health-port", "0") as found:
        yield found


@pytest.fixture
def figures(request: pytest.FixtureRequest) -> Figures:
    """Shows figures; those of the long form go into docs/server.md on request."""

    def tell(number: int, scale: Scale, *cells: str) -> None:
        sys.stdout.write(" | ".join((ATTACKS[number], *cells)) + "\n")
        if scale is LONG and request.config.getoption("--update-docs"):
            write_row(ATTACKS[number], *cells)

    return tell


@scales
def test_idle_and_active_clients_share_the_work(
    shop: Served, scale: Scale, figures: Figures
) -> None:
    asked: list[int] = []

    def work(me: int, rounds: int) -> list[float]:
        mine = []
        with connect(shop) as connection:
            connection.execute("SET dpsql.epsilon = 0.001")
            for turn in range(rounds):
                number = 1000 * me + turn
                begun = time.monotonic()
                connection.execute(question(number)).fetchall()
                mine.append(time.monotonic() - begun)
                asked.append(number)
        return mine

    with ThreadPoolExecutor(scale.active) as pool:
        idle = list(pool.map(lambda _: connect(shop), range(scale.idle)))
        list(pool.map(lambda me: work(1000 + me, 2), range(scale.active)))
        warm = memory(shop)
        with Witness(shop) as witness:
            found = list(pool.map(lambda me: work(me, scale.rounds), range(scale.active)))
    told = f"{waits(found)}; {assert_exact(shop, asked)}"
    figures(0, scale, witness.longest, grown(shop, warm), told)
    assert health(shop)["dpsql_connections"] >= scale.idle
    for connection in idle:
        assert connection.execute("SELECT 1").fetchone() == (1,)
        connection.close()
    assert_well(shop)


@scales_in_turn
def test_slow_clients_keep_nobody_out(shop: Served, scale: Scale, figures: Figures) -> None:
    """Each sends a byte, waits, and connects anew when it is left; some of them have logged in."""
    stop = threading.Event()
    left: list[int] = []

    def crawl(me: int) -> None:
        bytes_sent = startup() + message("Q", b"SELECT 1\0") if me % 5 else message("Q", b"S" * 99)
        while not stop.is_set():
            with socket.create_connection(("127.0.0.1", shop.port), 20) as client:
                if not me % 5:
                    client.sendall(startup())
                try:
                    for n in range(len(bytes_sent)):
                        client.sendall(bytes_sent[n : n + 1])
                        if stop.wait(5):
                            return
                except ConnectionError:
                    left.append(me)

    with ThreadPoolExecutor(scale.slow) as pool:
        crawling = [pool.submit(crawl, me) for me in range(scale.slow)]
        try:
            time.sleep(scale.slow_seconds / 4)
            warm = memory(shop)
            with Witness(shop) as witness:
                time.sleep(scale.slow_seconds)
                assert_well(shop)
        finally:
            stop.set()
        for one in crawling:
            one.result()
    assert scale is SHORT or len(left) >= scale.slow
    figures(1, scale, witness.longest, grown(shop, warm), f"{len(left):,} left for being slow")


def mutated(seed: int) -> bytes:
    """Eight messages, four of them changed: mostly in their bodies, so that the next is read."""
    mine = random.Random(seed)
    found, data = [], VALID
    while data:
        (length,) = struct.unpack_from("!i", data, 1)
        found.append(bytearray(data[: length + 1]))
        data = data[length + 1 :]
    for one in mine.sample(found, 4):
        for _ in range(mine.randint(1, 3)):
            first = 5 if len(one) > 5 and mine.random() < 0.9 else 0
            wild = (0, 4, 0xFF, mine.randrange(256))
            one[mine.randrange(first, len(one))] = mine.choice(
                wild if mine.random() < 0.4 else b" '\"()*;$x1"
            )
    return b"".join(found)


@scales
def test_mutated_messages_end_a_connection_at_most(
    shop: Served, scale: Scale, figures: Figures
) -> None:
    def attack(seed: int) -> None:
        with socket.create_connection(("127.0.0.1", shop.port), timeout=HANGS_AFTER) as client:
            try:
                begin = startup() if seed % 10 else b""
                client.sendall(begin + mutated(seed) + message("S") + message("X"))
                client.shutdown(socket.SHUT_WR)
                while client.recv(65536):
                    pass
            except (ConnectionError, TimeoutError):
                pass

    seeds = range(scale.mutated // 4)
    with ThreadPoolExecutor(8) as pool:
        first = len(seeds) // 5
        list(pool.map(attack, seeds[:first]))
        warm = memory(shop)
        with Witness(shop) as witness:
            list(pool.map(attack, seeds[first:]))
    assert_well(shop)
    found = health(shop)
    told = f"{found['dpsql_messages_total']:,.0f} messages read, "
    told += f"{found['dpsql_protocol_faults_total']:,.0f} connections ended"
    figures(2, scale, witness.longest, grown(shop, warm), told)


@scales
def test_a_query_of_64_megabytes_is_refused_and_the_connection_goes_on(
    shop: Served, scale: Scale, figures: Figures
) -> None:
    sql = "SELECT '" + "x" * (64 * 1024 * 1024) + "'"
    with connect(shop) as connection:
        warm = memory(shop)
        with Witness(shop) as witness:
            for _ in range(scale.large):
                with pytest.raises(psycopg.errors.ProgramLimitExceeded):
                    connection.execute(sql)
        assert memory(shop) < warm + 32 * 1024
        assert connection.execute("SELECT 1").fetchone() == (1,)
    figures(3, scale, witness.longest, grown(shop, warm), "refused, the connection goes on")


@scales
def test_deep_nesting_is_refused_and_the_connection_goes_on(
    shop: Served, scale: Scale, figures: Figures
) -> None:
    depth = 10_000
    statements = (
        "SELECT " + "(" * depth + "1" + ")" * depth,
        "SELECT count(*) FROM orders WHERE " + "NOT " * depth + "paid",
        "SELECT * FROM pg_class WHERE oid = " + "(" * depth + "1" + ")" * depth,
    )
    warm = 0
    with connect(shop) as connection:
        with Witness(shop) as witness:
            for _ in range(scale.large + 1):
                for sql in statements:
                    with pytest.raises(psycopg.Error) as raised:
                        connection.execute(sql)
                    assert raised.value.sqlstate in {"54001", "0A000", "42601"}, raised.value
                warm = warm or memory(shop)
        assert connection.execute("SELECT 1").fetchone() == (1,)
    figures(4, scale, witness.longest, grown(shop, warm), "refused, the connection goes on")


def wrong_password(server: Served, user: str) -> str:
    """What the server says to a proof that is a guess, from an address of its own."""
    address = ("127.0.0.1", server.port)
    with socket.create_connection(address, 20, source_address=("127.0.0.2", 0)) as client:
        reader = client.makefile("rb")

        def read() -> tuple[bytes, bytes]:
            kind = reader.read(1)
            return kind, reader.read(struct.unpack("!i", reader.read(4))[0] - 4)

        client.sendall(startup(user))
        kind, body = read()
        if kind == b"R":
            first = b"n,,n=,r=nonce"
            sized = struct.pack("!i", len(first)) + first
            client.sendall(message("p", b"SCRAM-SHA-256\0" + sized))
            _, body = read()
            nonce = body[4:].split(b",")[0]
            proof = base64.b64encode(os.urandom(32))
            client.sendall(message("p", b"c=biws," + nonce + b",p=" + proof))
            kind, body = read()
        reader.close()
        assert kind == b"E"
        return body.decode()


@scales_in_turn
def test_wrong_passwords_keep_nobody_out(tmp_path: Path, scale: Scale, figures: Figures) -> None:
    """They come from another address than those who log in: each address may fail so often."""
    schema = make(tmp_path / "shop")
    command(tmp_path / "shop", "user", "add", str(schema), "erin", stdin="a password\n")
    with served(tmp_path / "shop") as server:

        def guess(number: int) -> str:
            # A minute's worth is spread over that minute.
            time.sleep(max(0.0, begun + number * 60 / LONG.wrong - time.monotonic()))
            return wrong_password(server, f"u{number % 7}" if number % 2 else "erin")

        secret = {"user": "erin", "password": "a password"}
        begun = time.monotonic()
        with ThreadPoolExecutor(8) as pool:
            first = scale.wrong // 5
            list(pool.map(guess, range(first)))
            warm = memory(server)
            with Witness(server, **secret) as witness:
                said = list(pool.map(guess, range(first, scale.wrong)))
        barred = sum("too many failed logins" in text for text in said)
        assert barred > len(said) // 8
        told = f"{barred:,} of {scale.wrong:,} weren't even compared"
        figures(5, scale, witness.longest, grown(server, warm), told)


@scales
def test_a_storm_of_cancels_stops_statements_only(
    shop: Served, scale: Scale, figures: Figures
) -> None:
    stop = threading.Event()
    answered: list[int] = []
    cancelled: list[int] = []
    with connect(shop) as connection, Witness(shop) as witness:
        connection.execute("SET dpsql.epsilon = 0.001")
        connection.execute(question(10_000)).fetchall()
        warm = memory(shop)

        def storm() -> None:
            while not stop.is_set():
                connection.cancel()

        storms = [threading.Thread(target=storm) for _ in range(4)]
        for one in storms:
            one.start()
        for number in range(scale.cancels):
            try:
                connection.execute(question(number)).fetchall()
                answered.append(number)
            except psycopg.errors.QueryCanceled:
                cancelled.append(number)
        stop.set()
        for one in storms:
            one.join()
        connection.execute("SELECT 1")
    # A cancel with a wrong secret stops nothing.
    with connect(shop) as connection, socket.create_connection(("127.0.0.1", shop.port)) as other:
        other.sendall(struct.pack("!iiIi", 16, 80877102, connection.info.backend_pid, 0))
        assert len(connection.execute(question(9999)).fetchall()) >= 4
    assert_well(shop)
    told = assert_exact(shop, [*answered, 9999, 10_000], cancelled)
    told = f"{health(shop)['dpsql_cancels_total']:,.0f} cancels; {told}"
    figures(6, scale, witness.longest, grown(shop, warm), told)


@scales_in_turn
def test_killed_workers_are_replaced_and_their_charges_stay(
    shop: Served, scale: Scale, figures: Figures
) -> None:
    chance = random.Random(7)
    stop = threading.Event()
    answered: list[int] = []
    failed: list[int] = []
    states: set[str | None] = set()
    pauses: list[float] = []

    def ask(me: int) -> None:
        number = 1_000_000 * me
        with connect(shop) as connection:
            connection.execute("SET dpsql.epsilon = 0.001")
            while not stop.is_set():
                number += 1
                try:
                    connection.execute(question(number)).fetchall()
                    answered.append(number)
                except psycopg.Error as error:
                    failed.append(number)
                    states.add(error.sqlstate)

    def kill(seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            begun, rest = time.monotonic(), chance.uniform(0.2, 2)
            time.sleep(rest)
            pauses.append(time.monotonic() - begun - rest)
            if workers := shop.workers:
                os.kill(chance.choice(workers), signal.SIGKILL)

    with ThreadPoolExecutor(3) as pool:
        asking = [pool.submit(ask, me) for me in range(3)]
        try:
            kill(scale.kill_seconds / 10)
            warm = memory(shop)
            with Witness(shop) as witness:
                kill(scale.kill_seconds)
            time.sleep(2)
        finally:
            stop.set()
        for one in asking:
            one.result()
    for _ in range(2):
        # One that died unasked is replaced once it is asked.
        with connect(shop) as connection:
            connection.execute("SELECT relname FROM pg_class").fetchall()
    assert answered
    # Where the whole machine stood still, statements have taken too long.
    assert states <= {"XX000", "58000"} | ({"57014"} if max(pauses) > 20 else set())
    assert_well(shop)
    assert len(shop.workers) == 4
    told = f"{health(shop)['dpsql_workers_replaced_total']:,.0f} workers replaced"
    told = f"{told}; {assert_exact(shop, answered, failed)}"
    figures(7, scale, witness.longest, grown(shop, warm), told)
