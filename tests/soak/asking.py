"""Clients that ask one pair of servers, and remember what each statement was told."""

from __future__ import annotations

import random
import socket
import threading
from collections import Counter
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from typing import Any, Final

import psycopg
from pgwire.pressure import question
from pgwire.test_wire_protocol import message, startup
from soak.world import Pair, Server

CUT_OFF: Final = "cut off"
"""What a client sees of a server that is killed: the end of its connection, without a word."""

_FREE: Final = (
    "SELECT relname, attname FROM pg_class c JOIN pg_attribute ON attrelid = c.oid LIMIT 50",
    "SELECT name FROM regions ORDER BY region_id",
    "SHOW dpsql.budget",
    "EXPLAIN PRIVACY SELECT sum(qty) FROM orders",
    "SELECT * FROM orders",
    "SELECT id FROM orders WHERE id = 3",
    "SELECT nothing FROM nowhere",
    "SELECT count(*) FRM orders",
)
"""The catalogue, public rows, refusals, faults: none of them is charged."""

_NOT_FAULTS: Final = frozenset({"42501", "42P01", "42703", "42601", "0A000"})


@dataclass(slots=True)
class Journal:
    """What was told of each numbered question of one pair, and of everything else."""

    guard: threading.Lock = field(default_factory=threading.Lock)
    answers: dict[int, list[Any]] = field(default_factory=dict)
    failures: dict[int, str] = field(default_factory=dict)
    others: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def one_more(self, what: str, number: int = 1) -> None:
        with self.guard:
            self.others[what] += number


def ask_until(stop: threading.Event, pair: Pair, journal: Journal, me: int) -> None:
    """One client after the other, of both servers."""
    chance = random.Random(me)
    number = me * 10_000_000
    while not stop.is_set():
        server = chance.choice(pair.servers)
        try:
            connection = psycopg.connect(server.dsn(f"client{me}"), autocommit=True)
        except psycopg.Error:
            journal.one_more("logins failed")
            stop.wait(0.3)
            continue
        with suppress(psycopg.Error), closing(connection):
            connection.execute("SET dpsql.epsilon = 0.001")
            for _ in range(chance.randint(1, 40)):
                if stop.is_set() or connection.closed:
                    break
                number += 1
                _ask(connection, journal, number, chance)


def _ask(connection: Any, journal: Journal, number: int, chance: random.Random) -> None:
    kind = chance.random()
    if kind < 0.6:
        _ask_new(connection, journal, number, cancels=kind < 0.05)
    elif kind < 0.8:
        _ask_again(connection, journal, chance)
    else:
        sql = chance.choice(_FREE)
        try:
            connection.execute(sql).fetchall()
            journal.one_more("answers that cost nothing")
        except psycopg.Error as error:
            known = error.sqlstate in _NOT_FAULTS
            journal.one_more("refusals" if known else f"free: {_of(error)}")


def _ask_new(connection: Any, journal: Journal, number: int, *, cancels: bool) -> None:
    timer = threading.Timer(0.02, lambda: _cancel(connection)) if cancels else None
    if timer is not None:
        timer.start()
    try:
        rows = connection.execute(question(number)).fetchall()
    except psycopg.Error as error:
        with journal.guard:
            journal.failures[number] = _of(error)
    else:
        with journal.guard:
            journal.answers[number] = in_order(rows)
    finally:
        if timer is not None:
            timer.cancel()
            timer.join()


def in_order(rows: list[Any]) -> list[Any]:
    """Rows as they are compared: no order was asked for, and NULL is one of the keys."""
    return sorted(rows, key=str)


def _cancel(connection: Any) -> None:
    with suppress(psycopg.Error, OSError):
        connection.cancel()


def _ask_again(connection: Any, journal: Journal, chance: random.Random) -> None:
    with journal.guard:
        if not journal.answers:
            return
        number = chance.choice(list(journal.answers)[-1000:])
        told = journal.answers[number]
    try:
        rows = in_order(connection.execute(question(number)).fetchall())
    except psycopg.Error as error:
        journal.one_more(f"again: {_of(error)}")
        return
    journal.one_more("answers again")
    if rows != told:
        with journal.guard:
            journal.wrong.append(f"question {number} was answered {told}, and again {rows}")


def _of(error: psycopg.Error) -> str:
    return error.sqlstate or CUT_OFF


def copy_until(stop: threading.Event, pair: Pair, journal: Journal, me: int) -> None:
    """Read a million rows, slowly, or leave in the middle of them."""
    chance = random.Random(me)
    while not stop.is_set():
        server = chance.choice(pair.servers)
        leaves = chance.random() < 0.5
        read = 0
        with (
            suppress(psycopg.Error),
            closing(psycopg.connect(server.dsn("reader"))) as connection,
            connection.cursor().copy("COPY (SELECT n FROM numbers) TO STDOUT") as copy,
        ):
            for data in copy:
                read += bytes(data).count(b"\n")
                if read % 10_000 == 0 and stop.wait(0.05):
                    break
                if leaves and read > 200_000:
                    connection.close()
                    journal.one_more("COPY interrupted")
                    break
        journal.one_more("rows copied", read)


def idle_until(stop: threading.Event, servers: Sequence[Server], number: int) -> None:
    """Keep so many connections open to each server, anew where one was lost."""
    held: list[tuple[Server, Any]] = []
    while not stop.is_set():
        for server in servers:
            for _ in range(number - sum(1 for its, _ in held if its is server)):
                with suppress(psycopg.Error):
                    held.append((server, psycopg.connect(server.dsn("idle"), autocommit=True)))
        for each in random.sample(held, min(len(held), 20)):
            try:
                each[1].execute("SELECT 1")
            except psycopg.Error:
                each[1].close()
                held.remove(each)
        stop.wait(1)
    for _, connection in held:
        connection.close()


def half_open_until(stop: threading.Event, servers: Sequence[Server], number: int) -> None:
    """Sockets that send half of a login, or half of a statement, and no more."""
    begun = (startup()[:9], startup() + message("Q", b"SELECT 1\0")[:7])
    held: list[socket.socket] = []
    while not stop.is_set():
        for one in held:
            one.close()
        held = []
        for n in range(number):
            with suppress(OSError):
                address = ("127.0.0.1", servers[n % len(servers)].port)
                held.append(socket.create_connection(address, 5))
                held[-1].sendall(begun[n // len(servers) % 2])
        stop.wait(10)
    for one in held:
        one.close()
