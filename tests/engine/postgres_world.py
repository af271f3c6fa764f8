"""A database on a real server, made for one test: what its owner does, and who may only read it."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

import duckdb
import psycopg
import pytest

from dpsql.engine.source import PostgresSource, ServerTable
from dpsql.schema.model import Schema

PASSWORD = "se:cret/word"  # noqa: S105 - of a role that lives as long as a test
_TYPES = {
    "TINYINT": "smallint",
    "UTINYINT": "smallint",
    "USMALLINT": "integer",
    "UINTEGER": "bigint",
    "UBIGINT": "numeric(20,0)",
    "HUGEINT": "numeric",
    "UHUGEINT": "numeric",
    "FLOAT": "real",
    "DOUBLE": "double precision",
}


@dataclass(frozen=True)
class Database:
    """`owner` is connected as its owner; `url` is that of a role which may read what is granted."""

    owner: psycopg.Connection
    url: str
    role: str

    def run(self, *statements: str) -> None:
        for statement in statements:
            self.owner.execute(statement)

    def grant(self) -> None:
        """Let the role read all tables that there are."""
        for (space,) in self.owner.execute(
            "SELECT nspname FROM pg_namespace"
            " WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'"
        ).fetchall():
            self.run(
                f'GRANT USAGE ON SCHEMA "{space}" TO {self.role}',
                f'GRANT SELECT ON ALL TABLES IN SCHEMA "{space}" TO {self.role}',
            )

    def source(self, *tables: ServerTable) -> PostgresSource:
        return PostgresSource(self.url, "1", tables)

    def url_of(self, role: str, password: str = "") -> str:
        login = f"{role}:{password}@" if password else f"{role}@"
        return self.url.replace(f"{urlsplit(self.url).netloc.rpartition('@')[0]}@", login, 1)

    def sessions(self) -> list[int]:
        """The server's processes that serve the role."""
        rows = self.owner.execute(
            "SELECT pid FROM pg_stat_activity WHERE usename = %s", [self.role]
        ).fetchall()
        return [pid for (pid,) in rows]

    def locked(self, table: str) -> int:
        """How many sessions have a lock on a table."""
        count = self.owner.execute(
            "SELECT count(*) FROM pg_locks WHERE relation = to_regclass(%s) AND granted", [table]
        ).fetchone()
        assert count is not None
        return int(count[0])


@contextmanager
def database() -> Iterator[Database]:
    """A new database, and its role; both are dropped afterwards."""
    server = os.environ.get("DPSQL_POSTGRES")
    if not server:
        pytest.skip("no PostgreSQL: export DPSQL_POSTGRES=$(.ci/postgres start)")
    name = f"source_{secrets.token_hex(6)}"
    role = f"reader_{name}"
    own = server.replace("/postgres?", f"/{name}?")
    assert own != server
    with psycopg.connect(server, autocommit=True) as admin:
        admin.execute("SET synchronous_commit = off")
        admin.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'")
        admin.execute(f"CREATE ROLE {role} LOGIN PASSWORD '{PASSWORD}'")
        try:
            with psycopg.connect(own, autocommit=True) as owner:
                # What is lost in a crash of the machine is a test's.
                owner.execute("SET synchronous_commit = off")
                login = f"{role}:{PASSWORD.replace(':', '%3A').replace('/', '%2F')}@"
                yield Database(owner, own.replace("dpsql@", login), role)
        finally:
            admin.execute(f"DROP DATABASE {name} WITH (FORCE)")
            admin.execute(f"DROP ROLE {role}")


def server_type(kind: str) -> str:
    """A type of the server's that holds the values of one of DuckDB's."""
    return _TYPES.get(kind, kind.lower())


def load(
    target: Database,
    schema: Schema,
    rows: duckdb.DuckDBPyConnection,
    keys: Mapping[str, tuple[str, ...]],
) -> None:
    """Make the tables of `schema` with the rows that `rows` has, and primary keys of `keys`."""
    for name, table in schema.tables.items():
        space, _, own = name.rpartition(".")
        at = f'"{space or "public"}"."{own}"'
        if space:
            target.run(f'CREATE SCHEMA IF NOT EXISTS "{space}"')
        columns = ", ".join(
            f'"{c.stored_as}" {server_type(str(c.type))}' for c in table.columns.values()
        )
        target.run(f"CREATE TABLE {at} ({columns})")
        items = ", ".join(_cell(c.name) for c in table.columns.values())
        copied = rows.execute(f'SELECT concat_ws(chr(9), {items}) FROM "{name}"').fetchall()
        with target.owner.cursor() as cursor, cursor.copy(f"COPY {at} FROM STDIN") as copy:
            copy.write("".join(f"{line}\n" for (line,) in copied))
        if name in keys:
            key = ", ".join(f'"{table.in_source(column)}"' for column in keys[name])
            target.run(f"ALTER TABLE {at} ADD PRIMARY KEY ({key})")
    target.grant()


def _cell(name: str) -> str:
    """A value as COPY reads it; years before our era as the server writes them."""
    text = f'CAST("{name}" AS VARCHAR)'
    text = f"regexp_replace({text}, '^(\\d+-\\d+-\\d+) \\(BC\\)(.*)$', '\\1\\2 BC')"
    for letter, sign in (
        ("\\\\", "chr(92)"),
        ("\\t", "chr(9)"),
        ("\\n", "chr(10)"),
        ("\\r", "chr(13)"),
    ):
        text = f"replace({text}, {sign}, '{letter}')"
    return f"coalesce({text}, '\\N')"
