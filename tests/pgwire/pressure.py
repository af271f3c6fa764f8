"""What is measured while a server is under attack: new logins, memory, waits, the ledger."""

from __future__ import annotations

import json
import re
import socket
import statistics
import threading
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from documentation.pages import put, table_of
from pgwire.inner_command import command
from pgwire.shop import Served
from waiting import HANGS_AFTER

HEAD = (
    "| attack | longest new login beside it | server's memory, after : warmed up | |\n"
    "| --- | --- | --- | --- |"
)
ATTACKS = (
    "200 idle and 50 active connections",
    "500 slow connections, one byte per 5 s",
    "100,000 mutated messages",
    "queries of 64 MB",
    "10,000-deep nesting",
    "1,000 wrong passwords a minute",
    "storms of cancels",
    "workers killed at random for 10 minutes",
)
"""In the order of the table in docs/server.md."""


def connect(server: Served, user: str = "dave") -> Any:
    import psycopg

    return psycopg.connect(
        server.dsn.replace("alice", user), autocommit=True, connect_timeout=HANGS_AFTER
    )


def question(number: int) -> str:
    """Statements of the same price that aren't each other's answers."""
    return f"SELECT status, count(*) FROM orders WHERE qty <> {number} GROUP BY status"


class Witness:
    """Logs in anew, twice a second, while others attack; no login may fail."""

    def __init__(self, server: Served, **options: Any) -> None:
        self._server = server
        self._options = options
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self.logins: list[float] = []
        self._failed: list[str] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        self._thread.join()
        if error is None:
            assert not self._failed, self._failed[:3]
            assert self.logins

    @property
    def longest(self) -> str:
        return f"{max(self.logins):.2f} s of {len(self.logins):,}"

    def _watch(self) -> None:
        import psycopg

        while not self._stop.is_set():
            begun = time.monotonic()
            try:
                with psycopg.connect(self._server.dsn, connect_timeout=20, **self._options):
                    self.logins.append(time.monotonic() - begun)
            except psycopg.Error as error:
                self._failed.append(str(error))
            self._stop.wait(0.5)


def memory(server: Served) -> int:
    """The server process's resident kilobytes."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0])


def grown(server: Served, before: int) -> str:
    now = memory(server)
    return f"{now // 1024} : {before // 1024} MB, {now / before:.2f}×"


def waits(by_session: Sequence[Sequence[float]]) -> str:
    """How long statements took: of the session that waited longest, and of all."""
    means = [statistics.mean(mine) for mine in by_session]
    mean = statistics.mean(means)
    longest = max(max(mine) for mine in by_session)
    return (
        f"mean wait {mean:.2f} s, of the slowest session {max(means) / mean:.2f}×, "
        f"longest single wait {longest / mean:.2f}×"
    )


def health(server: Served, host: str = "127.0.0.1") -> dict[str, float]:
    assert server.health is not None
    with socket.create_connection((host, server.health), timeout=HANGS_AFTER) as client:
        client.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
        told = b"".join(iter(lambda: client.recv(4096), b"")).decode().partition("\r\n\r\n")[2]
    lines = (line.rpartition(" ") for line in told.splitlines())
    return {name: float(value) for name, _, value in lines}


def charged(server: Served) -> Counter[int]:
    """How often each `question` was charged, by its number."""
    told = command(server.folder, "budget", str(server.schema), "--format", "json")
    assert told.returncode == 0, told.stderr
    numbers = (re.search(r"qty <> (\d+)", entry["statement"]) for entry in json.loads(told.stdout))
    return Counter(int(number[1]) for number in numbers if number)


def assert_exact(server: Served, answered: Iterable[int], failed: Iterable[int] = ()) -> str:
    """Every answer was charged once; what failed, once or not at all; nothing else was."""
    found, sure, perhaps = charged(server), set(answered), set(failed)
    assert all(count == 1 for count in found.values())
    assert sure <= set(found) <= sure | perhaps
    return f"{len(found):,} charges for {len(sure):,} answers and {len(perhaps):,} failures"


def assert_well(server: Served) -> None:
    """It answers, and its ledger replays entry by entry."""
    assert server.process.poll() is None
    with connect(server, "erin") as connection:
        assert connection.execute("SELECT count(*) FROM regions").fetchone() == (4,)
    verified = command(server.folder, "ledger", "verify", str(server.schema))
    assert verified.returncode == 0, verified.stderr


def write_row(attack: str, *cells: str) -> None:
    """Put an attack's figures into the table of docs/server.md, in their place."""
    inside = table_of("reliability-table").splitlines()[2:]
    rows = {row.split(" | ")[0].removeprefix("| "): row for row in inside}
    rows[attack] = f"| {' | '.join((attack, *cells))} |"
    table = "\n".join([HEAD, *(rows[name] for name in ATTACKS if name in rows)])
    put("reliability-table", f"{table}\n")
