"""A server of dpsql and a database of a real PostgreSQL with the same tables, at two ports."""

from __future__ import annotations

import itertools
import os
import socket
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest
from pgwire.asked_of_both import COLUMNS, ROWS
from pgwire.asked_of_both import FOLDER as BOTH
from pgwire.shop import make, served

USER = "alice"
KEYS = {"regions": "region_id", "t": "id"}
"""Primary keys of public tables; those of units are not told by either server."""


@dataclass(frozen=True, slots=True)
class Servers:
    """Ports at 127.0.0.1, where `alice` connects to `database` without a password.

    `schema` is the file that the server of dpsql reads.
    """

    ours: int
    theirs: int
    database: str
    schema: Path

    def dsn(self, port: int) -> str:
        return f"host=127.0.0.1 port={port} user={USER} dbname={self.database} sslmode=disable"


_NUMBERS = itertools.count()
"""Of databases: one process may have several at once."""


@contextmanager
def both(folder: Path) -> Iterator[Servers]:
    """Both servers over the shop and the table `t`; skips where DPSQL_POSTGRES names none."""
    url = os.environ.get("DPSQL_POSTGRES")
    if not url:
        pytest.skip("no PostgreSQL: export DPSQL_POSTGRES=$(.ci/postgres start)")
    psycopg: Any = pytest.importorskip("psycopg")
    database = f"shop_{os.getpid()}_{next(_NUMBERS)}"
    _make(folder, database)
    with psycopg.connect(url, autocommit=True) as connection:
        # Two processes of one run can't alter one role at the same time.
        connection.execute("SELECT pg_advisory_lock(5433)")
        with suppress(psycopg.errors.DuplicateObject):
            connection.execute(f"CREATE ROLE {USER} LOGIN")
        connection.execute(f"ALTER ROLE {USER} SET default_transaction_read_only = on")
        connection.execute(f"ALTER ROLE {USER} SET timezone = 'UTC'")
        connection.execute("SELECT pg_advisory_unlock(5433)")
        connection.execute(f"DROP DATABASE IF EXISTS {database}")
        connection.execute(f"CREATE DATABASE {database}")
        directory, port = connection.info.host, connection.info.port
        try:
            with psycopg.connect(url, dbname=database, autocommit=True) as filled:
                _fill(filled, folder / "shop.duckdb")
            with forwarded(f"{directory}/.s.PGSQL.{port}") as theirs, served(folder) as server:
                yield Servers(server.port, theirs, database, server.schema)
        finally:
            connection.execute(f"DROP DATABASE {database} WITH (FORCE)")


def _make(folder: Path, database: str) -> None:
    schema = make(folder)
    text = schema.read_text(encoding="utf-8").replace("dataset: shop", f"dataset: {database}")
    text = text.replace("epsilon: 60,", "epsilon: 500, allow_large_epsilon: true,")
    tables = (BOTH / "schema.yaml").read_text(encoding="utf-8")
    t = tables[tables.index("  t:\n") : tables.index("  people:\n")]
    schema.write_text(text.replace("tables:\n", f"tables:\n{t}", 1), encoding="utf-8")
    with duckdb.connect(str(folder / "shop.duckdb")) as connection:
        connection.execute(f"CREATE TABLE t ({COLUMNS}); {ROWS}")


_TYPES = {"VARCHAR": "text", "DOUBLE": "double precision"}


def _fill(postgres: Any, path: Path) -> None:
    """The tables of the DuckDB file at `path`, with the same rows and declared keys."""
    with duckdb.connect(str(path), read_only=True) as data:
        for (name,) in data.execute("SELECT table_name FROM duckdb_tables()").fetchall():
            columns = data.execute(f"SELECT column_name, column_type FROM (DESCRIBE {name})")
            typed = [f"{c} {_TYPES.get(kind, kind)}" for c, kind in columns.fetchall()]
            postgres.execute(f"CREATE TABLE {name} ({', '.join(typed)})")
            rows = data.execute(f"FROM {name}").fetchall()
            with postgres.cursor().copy(f"COPY {name} FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)
    for table, key in KEYS.items():
        postgres.execute(f"ALTER TABLE {table} ADD PRIMARY KEY ({key})")
    for table in ("customers", "orders"):
        postgres.execute(f"ALTER TABLE {table} ALTER COLUMN id SET NOT NULL")
    postgres.execute("ALTER TABLE orders ADD FOREIGN KEY (region_id) REFERENCES regions")
    # information_schema shows keys to who may refer to them.
    postgres.execute(f"GRANT SELECT, REFERENCES ON ALL TABLES IN SCHEMA public TO {USER}")
    postgres.execute("ALTER SCHEMA public OWNER TO dpsql")


class _Forwarding(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(("127.0.0.1", 0), _Connection)


class _Connection(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        assert isinstance(self.server, _Forwarding)
        with socket.socket(socket.AF_UNIX) as other:
            other.connect(self.server.path)
            back = threading.Thread(target=_copy, args=(other, self.request), daemon=True)
            back.start()
            _copy(self.request, other)
            back.join()


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(1 << 16):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)


@contextmanager
def forwarded(path: str) -> Iterator[int]:
    """A port whose connections go to the socket at `path`: not all clients know such sockets."""
    with _Forwarding(path) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()
