"""A shop's data, and a real server over it in a process of its own."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from data.database import attached
from waiting import HANGS_AFTER

FIXTURES = Path(__file__).parent.parent.parent / "fixtures" / "pgwire"
CUSTOMERS, ORDERS = 2000, 4000


@dataclass(frozen=True, slots=True)
class Served:
    """A server that runs: its port, its folder, and its process."""

    port: int
    folder: Path
    process: subprocess.Popen[str]
    health: int | None = None

    @property
    def schema(self) -> Path:
        return self.folder / "schema.yaml"

    @property
    def dsn(self) -> str:
        name = self.dataset
        return f"host=127.0.0.1 port={self.port} user=alice dbname={name} sslmode=prefer"

    @property
    def dataset(self) -> str:
        """What the schema calls it, and clients their database."""
        found = re.search(r"^dataset: (\w+)", self.schema.read_text(encoding="utf-8"), re.MULTILINE)
        return "shop" if found is None else found[1]

    @property
    def workers(self) -> list[int]:
        """The processes that read data, whichever thread of the server started them."""
        return processes_of(self.process.pid)


def processes_of(server: int) -> list[int]:
    """The processes that work for a server: forks of one that it has started for that."""
    origins = [p for p in _children(server) if "forkserver" in _read(Path(f"/proc/{p}/cmdline"))]
    return [worker for origin in origins for worker in _children(origin)]


def _children(process: int) -> list[int]:
    threads = Path(f"/proc/{process}/task").glob("*/children")
    return [int(pid) for thread in threads for pid in _read(thread).split()]


def _read(path: Path) -> str:
    """What it says of a process or thread, nothing if that has ended meanwhile."""
    with suppress(FileNotFoundError, ProcessLookupError):
        return path.read_text()
    return ""


def make(folder: Path, customers: int = CUSTOMERS, orders: int = ORDERS) -> Path:
    """The shop's schema and data in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(FIXTURES / "schema.yaml", folder / "schema.yaml")
    with attached(folder / "shop.duckdb") as connection:
        connection.execute(
            f"""
            CREATE TABLE regions AS SELECT i::BIGINT AS region_id, 'region ' || i AS name
            FROM range(1, 5) t(i);
            CREATE TABLE customers AS SELECT i::BIGINT AS id,
              ['north', 'south', 'east', 'west'][i % 4 + 1] AS region, (i * 7 % 90)::INTEGER AS age,
              DATE '2020-01-01' + (i % 2000)::INTEGER AS joined FROM range({customers}) t(i);
            CREATE TABLE orders AS SELECT i::BIGINT AS id, (i % {customers})::BIGINT AS customer_id,
              (i % 4 + 1)::BIGINT AS region_id,
              ['new', 'paid', 'shipped', 'cancelled'][i // 2 % 4 + 1] AS status,
              (i % 1000)::DECIMAL(10, 2) AS amount, (i % 100)::INTEGER AS qty,
              TIMESTAMP '2023-01-01' + INTERVAL (i % 900) DAY AS ts, i % 3 = 0 AS paid,
              (i % 100) / 100 AS score FROM range({orders}) t(i);
            """
        )
    return folder / "schema.yaml"


def environment(folder: Path) -> dict[str, str]:
    return os.environ | {"DPSQL_STATE": str(folder / "state"), "PYTHONWARNINGS": "ignore"}


@contextmanager
def served(folder: Path, *options: str) -> Iterator[Served]:
    """A server over the shop in `folder`, which is made if it isn't there."""
    if not (folder / "schema.yaml").exists():
        make(folder)
    command = [sys.executable, "-m", "dpsql.cli", "serve", str(folder / "schema.yaml")]
    log = (folder / "log").open("w+")
    process = subprocess.Popen(
        [*command, "--port", "0", *options],
        env=environment(folder),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        port = _told(process.stderr, r"listening on \S+:(\d+)")
        health = None
        if "--health-port" in options:
            health = _told(process.stderr, r"health on \S+:(\d+)")
        yield Served(port, folder, process, health)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            _, rest = process.communicate(timeout=HANGS_AFTER)
        except subprocess.TimeoutExpired:
            process.kill()
            _, rest = process.communicate()
        log.write(rest)
        log.close()


def _told(lines: Iterator[str], pattern: str) -> int:
    said = []
    for line in lines:
        said.append(line)
        if found := re.search(pattern, line):
            return int(found[1])
    raise AssertionError("".join(said))


def command(folder: Path, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run dpsql."""
    return subprocess.run(
        [sys.executable, "-m", "dpsql.cli", *words],
        env=environment(folder),
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        timeout=HANGS_AFTER,
    )


def psql(server: Served, *statements: str, options: Sequence[str] = ()) -> tuple[str, str]:
    """What psql prints, and what it complains of."""
    words = [word for statement in statements for word in ("-c", statement)]
    ran = subprocess.run(
        ["psql", "-X", server.dsn, *options, *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=HANGS_AFTER,
        env=os.environ | {"PGCONNECT_TIMEOUT": str(HANGS_AFTER), "PAGER": "cat"},
    )
    return ran.stdout, ran.stderr
