"""How many small statements a second a server answers, beside PostgreSQL under the same client.

    PYTHONPATH=.:tests python -m benchmarks.wire_speed URL [--seconds 4] [--connections 1,10,50]
        [--json FILE] [--markdown]

URL names a PostgreSQL server with a role that may create a table of a thousand rows. Both servers
are asked by threads of one process with psycopg, in turns, and what is compared is the ratio: of
statements a second, dpsql ÷ PostgreSQL, and of a server's 99th percentile to its median. `stored`
are eight statements again and again, which dpsql has answered before, and `new` are statements of
one shape, each of which asks for other ages; `beside` are stored ones while ten other connections
ask for new ones. `syncs` is how often one new answer waits for a disk, and `processor` what a
statement takes of dpsql's own process in ms. A dashboard of so many charts is opened by all
connections at once: `computed` says how many statements were charged.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from unittest import mock

import duckdb
import psycopg
from benchmarks.fixed import SCHEMA, SQL, TEXTS, new_text
from pgwire.shop import Served, served

from dpsql.ledger.chain.entry import Charged
from dpsql.ledger.storage.sqlite import Database
from dpsql.schema.load.load import load_schema
from dpsql.session.ledger_access import existing_ledger
from dpsql.session.session import Session

CHARTS: Final = 30
TABLE: Final = "wire_speed_people"
_ROWS: Final = """
SELECT (i % 90)::INTEGER AS age, chr(97 + (i % 3)::INTEGER) AS dept,
  (i * 37 % 1000)::DECIMAL(10, 2) AS pay
"""
_EPSILON: Final = "0.0001"
_TICKS: Final = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Rate:
    """One server under so many connections: statements a second, and their times in ms."""

    per_second: float
    median: float
    p99: float


@dataclass(frozen=True)
class Compared:
    """The same statements on both servers; `processor` is in ms of dpsql's own process."""

    kind: str
    connections: int
    dpsql: Rate
    postgres: Rate
    processor: float

    @property
    def ratio(self) -> float:
        """How many statements dpsql answers where PostgreSQL answers one."""
        return self.dpsql.per_second / self.postgres.per_second

    @property
    def tail(self) -> float:
        """The 99th percentile of dpsql's times, in medians."""
        return self.dpsql.p99 / self.dpsql.median


def main() -> None:
    """Measure, print, and write down what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--connections", default="1,10,50")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--markdown", action="store_true", help="print docs/performance.md's table")
    arguments = parser.parse_args()
    numbers = [int(number) for number in arguments.connections.split(",")]
    found: dict[str, object] = {"rates": []}
    with TemporaryDirectory() as name, _on_postgres(arguments.url), _server(Path(name)) as server:
        rates = []
        lines = []
        for compared in compared_rates(server, arguments.url, numbers, arguments.seconds):
            lines.append(_row(compared))
            rates.append(asdict(compared) | {"ratio": compared.ratio, "tail": compared.tail})
            sys.stdout.write(f"{_line(compared)}\n")
            sys.stdout.flush()
        beside = beside_new_ones(server, 10, arguments.seconds)
        sys.stdout.write(f"beside  10  dpsql {_rated(beside)}\n")
        found = {
            "rates": rates,
            "beside": asdict(beside),
            "computed": opened_dashboard(server, max(numbers)),
        }
    with TemporaryDirectory() as name:
        found["syncs"] = syncs_of_a_query(Path(name))
    sys.stdout.write(f"{CHARTS} charts, opened by {max(numbers)}: {found['computed']} computed\n")
    sys.stdout.write(f"syncs of one new answer: {found['syncs']}\n")
    if arguments.markdown:
        sys.stdout.write("\n".join([*_HEAD, *lines]) + "\n")
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def compared_rates(
    server: Served, url: str, connections: list[int], seconds: float
) -> Iterator[Compared]:
    """Both kinds of statements under each number of connections."""
    numbers, news = itertools.count(), itertools.count()
    texts: dict[str, Callable[[], str]] = {
        "stored": lambda: SQL.format(next(numbers) % 8),
        "new": lambda: new_text(next(news)),
    }

    def there() -> str:  # nothing is stored there, whatever was asked before
        return new_text(next(numbers) % TEXTS).replace("people", TABLE)

    for number in connections:
        for kind, text in texts.items():
            ours, took = _rate(server.dsn, number, seconds, text, server.process.pid)
            theirs, _ = _rate(url, number, seconds, there)
            yield Compared(kind, number, ours, theirs, took)


def beside_new_ones(server: Served, number: int, seconds: float) -> Rate:
    """Stored answers for `number` connections, while ten others ask for new ones all the time."""
    texts, news, over = itertools.count(), itertools.count(2_000), threading.Event()
    guard = threading.Lock()

    def asks(_: int) -> None:
        with _connected(server.dsn) as connection:
            while not over.is_set():
                with guard:
                    sql = new_text(next(news))
                connection.execute(sql.encode()).fetchall()

    others = [threading.Thread(target=asks, args=(one,)) for one in range(10)]
    for thread in others:
        thread.start()
    try:
        return _rate(server.dsn, number, seconds, lambda: SQL.format(next(texts) % 8))[0]
    finally:
        over.set()
        for thread in others:
            thread.join()


def opened_dashboard(server: Served, people: int) -> int:
    """How many statements are charged where `people` open `CHARTS` new charts at once."""
    charts = [new_text(number, "pay IS NOT NULL AND age") for number in range(CHARTS)]
    before, together = _charges(server), threading.Barrier(people)

    def opens(number: int) -> None:
        with _connected(server.dsn) as connection:
            together.wait(60)
            for sql in charts[number % CHARTS :] + charts[: number % CHARTS]:
                connection.execute(sql.encode()).fetchall()

    _in_threads(people, opens)
    return _charges(server) - before


def syncs_of_a_query(folder: Path) -> int:
    """How often one new answer is followed by a sync: of its charge, of the anchor, of itself.

    SQLite syncs its log once for each transaction that writes, unless that doesn't wait; after a
    charge, the log and the anchor are synced by `os.fsync`, while the engine runs.
    """
    _make(folder)
    with mock.patch.dict(os.environ, {"DPSQL_STATE": str(folder / "state")}):
        session = Session(folder / "schema.yaml", epsilon=_EPSILON)
        session.query(SQL.format(0))
        database, real = session._context.ledger.open()._chain.database, os.fsync
        assert isinstance(database, Database)
        connection, synced = database._db, 0
        changes = connection.total_changes
        waits = database.run("PRAGMA synchronous") == [(2,)]

        def counted(file: int) -> None:
            nonlocal synced
            synced += 1
            real(file)

        def traced(statement: str) -> None:
            nonlocal synced, changes, waits
            if "synchronous" in statement:
                waits = "FULL" in statement
            if statement == "COMMIT" and connection.total_changes != changes:
                synced += waits
                changes = connection.total_changes

        connection.set_trace_callback(traced)
        with mock.patch.object(os, "fsync", counted):
            session.query(SQL.format(1))
        connection.set_trace_callback(None)
        session.close()
    return synced


def _rate(
    dsn: str, number: int, seconds: float, text: Callable[[], str], pid: int = 0
) -> tuple[Rate, float]:
    """The rate, and what a statement takes of the processor in ms by the process `pid`.

    Logins aren't among it, nor is the first statement of each connection.
    """
    times: list[float] = []
    before: list[float] = []
    together = threading.Barrier(number, lambda: before.append(_processor_seconds(pid)))
    guard = threading.Lock()

    def asks(_: int) -> None:
        own = []
        with _connected(dsn) as connection:
            connection.execute(text().encode()).fetchall()
            together.wait(60)
            until = time.monotonic() + seconds
            while (now := time.monotonic()) < until:
                with guard:
                    sql = text()
                connection.execute(sql.encode()).fetchall()
                own.append(time.monotonic() - now)
        with guard:
            times.extend(own)

    _in_threads(number, asks)
    took = _processor_seconds(pid) - before[0]
    times.sort()
    median, p99 = statistics.median(times), times[int(0.99 * len(times))]
    rate = Rate(len(times) / seconds, 1000 * median, 1000 * p99)
    return rate, 1000 * took / len(times)


def _in_threads(number: int, work: Callable[[int], None]) -> None:
    threads = [threading.Thread(target=work, args=(one,)) for one in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@contextmanager
def _connected(dsn: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        if "sslmode" in dsn:
            connection.execute(f"SET dpsql.epsilon = {_EPSILON}".encode())
        yield connection


@contextmanager
def _server(folder: Path) -> Iterator[Served]:
    _make(folder)
    with served(folder) as server, _connected(server.dsn) as connection:
        for number in range(8):
            connection.execute(SQL.format(number).encode()).fetchall()
        yield server


def _make(folder: Path) -> None:
    with duckdb.connect(str(folder / "people.duckdb")) as connection:
        connection.execute(f"CREATE TABLE people AS {_ROWS} FROM range(1000) r(i)")
    (folder / "schema.yaml").write_text(SCHEMA, encoding="utf-8")


@contextmanager
def _on_postgres(url: str) -> Iterator[None]:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"DROP TABLE IF EXISTS {TABLE}".encode())
        rows = _ROWS.replace("(i % 3)::INTEGER", "(i % 3)")
        connection.execute(
            f"CREATE TABLE {TABLE} AS {rows} FROM generate_series(0, 999) r(i)".encode()
        )
        try:
            yield
        finally:
            connection.execute(f"DROP TABLE {TABLE}".encode())


def _charges(server: Served) -> int:
    state = str(server.folder / "state")
    with (
        mock.patch.dict(os.environ, {"DPSQL_STATE": state}),
        existing_ledger(load_schema(server.schema)) as ledger,
    ):
        assert ledger is not None
        return sum(isinstance(entry.event, Charged) for entry in ledger.history())


def _processor_seconds(pid: int) -> float:
    """What the process has taken so far; 0 of none, as of PostgreSQL, which has one for each."""
    if not pid:
        return 0.0
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def _line(one: Compared) -> str:
    ours, theirs = _rated(one.dpsql), _rated(one.postgres)
    return (
        f"{one.kind:6} {one.connections:3}  dpsql {ours}  PostgreSQL {theirs}  "
        f"ratio {one.ratio:.2f}, p99 ÷ median {one.tail:.1f}, processor {one.processor:.1f} ms"
    )


_HEAD: Final = """\
| statements | connections | a second | ÷ PostgreSQL | median, ms | p99 ÷ median | processor, ms |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |
""".splitlines()


def _row(one: Compared) -> str:
    ours = one.dpsql
    return (
        f"| {one.kind} | {one.connections} | {ours.per_second:,.0f} | {one.ratio:.2g} |"
        f" {ours.median:,.1f} | {one.tail:.1f} | {one.processor:.1f} |"
    )


def _rated(rate: Rate) -> str:
    return f"{rate.per_second:.0f}/s, median {rate.median:.1f} ms, p99 {rate.p99:.1f} ms"


if __name__ == "__main__":
    main()
