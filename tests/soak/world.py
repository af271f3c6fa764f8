"""Two datasets, each with two servers on one ledger: a file on a small disk, and PostgreSQL."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import duckdb
import psycopg
import pytest
from mounts import make_image, mounted, remounted, small_disk
from pgwire.shop import make, processes_of
from soak.launch import CLOCK

PUBLIC_ROWS: Final = 1_000_000
DISK: Final = "96m"
_START_SECONDS: Final = 90
_TABLE: Final = """
  numbers:
    public: true
    key: n
    columns:
      n: {type: bigint, nullable: false}

"""


@dataclass(slots=True)
class Server:
    """One `dpsql serve`, which can be killed and started again on its port."""

    schema: Path
    state: Path
    clock: Path
    port: int
    log: Path
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until it listens."""
        code = [sys.executable, "-m", "soak.launch", "serve", str(self.schema)]
        options = ["--port", str(self.port), "--statement-seconds", "20", "--drain-seconds", "3"]
        environment = {"DPSQL_STATE": str(self.state), CLOCK: str(self.clock)}
        with self.log.open("ab") as log:
            begun = log.tell()
            self.process = subprocess.Popen(
                [*code, *options],
                env=os.environ | environment | {"PYTHONPATH": os.pathsep.join(sys.path)},
                stdout=log,
                stderr=log,
            )
        until = time.monotonic() + _START_SECONDS
        while b"listening" not in (told := self.log.read_bytes()[begun:]):
            assert self.process.poll() is None, told.decode()
            assert time.monotonic() < until, told.decode()
            time.sleep(0.1)

    def end(self, number: signal.Signals) -> None:
        """End it by a signal."""
        assert self.process is not None
        self.process.send_signal(number)
        try:
            self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise

    @property
    def workers(self) -> list[int]:
        """The processes that it has started."""
        return [] if self.process is None else processes_of(self.process.pid)

    @property
    def memory(self) -> int:
        """Resident megabytes of the server's own process."""
        assert self.process is not None
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) // 1024

    def dsn(self, user: str) -> str:
        """How `user` connects."""
        return f"host=127.0.0.1 port={self.port} user={user} dbname=shop connect_timeout=20"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two servers on one ledger: `steady`, whose memory is watched, and `killed`, which isn't."""

    name: str
    schema: Path
    steady: Server
    killed: Server

    @property
    def servers(self) -> tuple[Server, Server]:
        return self.steady, self.killed

    def command(self, *words: str) -> str:
        """What a command of dpsql prints."""
        ran = subprocess.run(
            [sys.executable, "-m", "dpsql.cli", *words],
            env=os.environ | {"DPSQL_STATE": str(self.steady.state)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
        return ran.stdout


@dataclass(frozen=True, slots=True)
class World:
    """All of it; `disk` holds the ledger of the first pair, `image` the rows of both."""

    folder: Path
    disk: Path
    image: Path
    postgres: str
    pairs: tuple[Pair, ...] = field(default=())

    @property
    def servers(self) -> tuple[Server, ...]:
        return tuple(server for pair in self.pairs for server in pair.servers)

    def remount(self) -> None:
        """The rows' disk is taken away under the servers, and comes back as another device."""
        remounted(self.image, self.folder / "source")


@contextmanager
def world(folder: Path) -> Iterator[World]:
    """The servers run; needs a PostgreSQL, and root for its disks."""
    own = os.environ.get("DPSQL_POSTGRES")
    if not own:
        pytest.skip("no PostgreSQL: export DPSQL_POSTGRES=$(.ci/postgres start)")
    name = f"soak_{secrets.token_hex(4)}"
    with psycopg.connect(own, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    url = own.replace("/postgres?", f"/{name}?")
    shop = make(folder / "made")
    with duckdb.connect(str(folder / "made" / "shop.duckdb")) as connection:
        connection.execute(f"CREATE TABLE numbers AS SELECT n FROM range({PUBLIC_ROWS}) r(n)")
    image, source = folder / "image", folder / "source"
    make_image(image, megabytes=64)
    with mounted(image, source):
        shutil.copy(folder / "made" / "shop.duckdb", source)
    with ExitStack() as stack:
        stack.enter_context(mounted(image, source, read_only=True))
        disk = stack.enter_context(small_disk(folder / "disk", DISK))
        sqlite = _pair(folder, "SQLite", shop, str(disk / "ledger.db"))
        shared = _pair(folder, "PostgreSQL", shop, url)
        found = World(folder, disk, image, url, (sqlite, shared))
        for server in found.servers:
            stack.callback(_gone, server)
            server.start()
        yield found


def _pair(folder: Path, name: str, shop: Path, ledger: str) -> Pair:
    own = folder / name
    own.mkdir()
    text = shop.read_text().replace(
        "source: shop.duckdb", f"source: {folder / 'source'}/shop.duckdb"
    )
    text = text.replace("tables:\n", f"tables:{_TABLE}", 1)
    schema, clock = own / "schema.yaml", own / "clock"
    schema.write_text(f"{text}\nledger: {ledger}\n")
    clock.write_text("0")
    # A ledger on a server has an anchor with each of its servers, as on machines of their own.
    states = [own / "state", own / ("state" if name == "SQLite" else "other state")]
    servers = [
        Server(schema, state, clock, _port(), own / f"log {number}")
        for number, state in enumerate(states)
    ]
    return Pair(name, schema, *servers)


def _port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def _gone(server: Server) -> None:
    if server.process is not None and server.process.poll() is None:
        server.process.kill()
        server.process.wait()
