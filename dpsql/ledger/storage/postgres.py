"""A ledger's tables in PostgreSQL, for several servers that share one budget.

Writers take turns by an advisory lock, so that the chain grows by one entry at a time; a commit
waits for the disk. The process lock is an advisory lock as well, and ends with the connection, so
that no pool is used.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from dpsql.errors import LedgerFault
from dpsql.installed_extra import install_extra
from dpsql.ledger.fault import REPORT, RESTORE, fault, full, other_format
from dpsql.ledger.storage.backend import Server
from dpsql.ledger.storage.postgres_tables import FAILED, FORMAT, NAMED, NAMES, TABLES, UNALTERED
from dpsql.ledger.storage.sqlite import PATIENCE_SECONDS

if TYPE_CHECKING:
    import psycopg

_NO_RIGHT: Final = "may not be used", "grant its user the schema, or the right to create it"
_AS_CREATED: Final = (
    "remove triggers, rules and policies of others, and have the tables' owner own the schema"
)
_OTHER_TABLES: Final = "has other tables than it was created with"


class HeldLock(Struct, frozen=True):
    """The process lock: an advisory lock that the connection holds until it is closed."""

    name: str

    def close(self) -> None:
        """Does nothing: closing the ledger closes the connection, and so releases the lock."""


class PostgresDatabase:
    """One connection to the ledger's schema on a server; `run` belongs inside a transaction."""

    is_shared = True

    def __init__(self, server: Server, connection: psycopg.Connection[tuple[object, ...]]) -> None:
        self.path = server
        self._db = connection
        self._commits = False
        """COMMIT was sent after the last BEGIN."""
        self._lock = _number(f"ledger {server.schema}")

    @property
    def lost(self) -> bool:
        """Whether a statement has failed because the server ended the connection, or restarted."""
        return self._db.closed

    @property
    def commit_lost(self) -> bool:
        """Whether the connection ended with the last COMMIT, so that it may hold or not."""
        return self._commits and self._db.closed

    def close(self) -> None:
        """Closes the connection, which releases the process lock."""
        with _translated_errors(self.path):
            self._db.close()

    @contextmanager
    def writing(self, *, waits: bool = True) -> Iterator[None]:  # noqa: ARG002 - all do
        """One exclusive transaction: durable once it is left, rolled back if an error leaves it."""
        # READ COMMITTED, so that statements after the lock see what its previous holder committed.
        with self._transaction("READ WRITE, ISOLATION LEVEL READ COMMITTED"):
            self.run("SELECT pg_advisory_xact_lock(?)", self._lock)
            yield

    def savepoint(self) -> AbstractContextManager[object]:
        """A part of a transaction, undone alone if an error leaves it."""
        return self._db.transaction()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """A transaction that reads one snapshot."""
        with self._transaction("READ ONLY, ISOLATION LEVEL REPEATABLE READ"):
            yield

    @contextmanager
    def _transaction(self, mode: str) -> Iterator[None]:
        with _translated_errors(self.path):
            self._commits = False
            try:
                self.run(f"BEGIN {mode}")
                yield
                self._commits = True
                self.run("COMMIT")
            except BaseException:
                if not self._db.closed:
                    self.run("ROLLBACK")
                raise

    def blank(self) -> bool:
        """Whether the schema doesn't exist, or has no tables."""
        query = "SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = ? LIMIT 1"
        return not self.run(query, self.path.schema)

    def sync(self) -> None:
        """Does nothing: every commit waits for the server's disk."""

    def create(self) -> None:
        """Creates the tables, empty, and their schema unless there is one.

        LedgerFault if that one's owner is neither their owner nor trusted with the database.
        """
        # Where it exists, PostgreSQL asks for the right to create it all the same.
        if not self.run("SELECT 1 FROM pg_namespace WHERE nspname = ?", self.path.schema):
            self.run(f"CREATE SCHEMA {_quoted(self.path.schema)}")
        self.run(TABLES)
        self.run("INSERT INTO format VALUES (?)", FORMAT)
        self._check_tables()

    def upgrade(self) -> None:
        """Adds what older formats lack: format 1 had no table `named`, 1 and 2 no `failed`."""
        if self.run("SELECT to_regclass('format')::text") != [("format",)]:
            return
        version = self.run("SELECT version FROM format")
        for older, table in ((1, NAMED), (2, FAILED)):
            if version in [[(number,)] for number in range(1, older + 1)]:
                self.run(table)
                self.run("UPDATE format SET version = ?", FORMAT)

    def check_format(self) -> None:
        """Raises LedgerFault if this is no ledger, one of another format, or has altered tables."""
        if self.run("SELECT has_schema_privilege(?, 'USAGE')", self.path.schema) == [(False,)]:
            raise fault(self.path, *_NO_RIGHT)
        if not self.run("SELECT to_regclass('format')::text") == [("format",)]:
            raise fault(self.path, "is no ledger of dpsql", "name the ledger's own database")
        if self.run("SELECT version FROM format") != [(FORMAT,)]:
            raise other_format(self.path, FORMAT)
        self._check_tables()

    def _check_tables(self) -> None:
        """Raises LedgerFault unless the tables keep and show what is written to them.

        Balances are checked as a ledger is opened. A trigger that undoes what is written to them,
        or a policy that hides it, would let all of an opening's charges begin from the same one.
        """
        if self.run(UNALTERED, self.path.schema, NAMES) != [(len(NAMES), True)]:
            raise fault(self.path, _OTHER_TABLES, _AS_CREATED)

    def check_pages(self) -> None:
        """Raises LedgerFault if a CHECK is missing or unvalidated; the server checks pages."""
        query = (
            "SELECT count(*), coalesce(bool_and(convalidated), true) FROM pg_constraint c "
            "JOIN pg_namespace n ON n.oid = c.connamespace WHERE nspname = ? AND contype = 'c'"
        )
        if self.run(query, self.path.schema) != [(9, True)]:
            raise fault(self.path, _OTHER_TABLES, RESTORE)

    def copy(self, target: Path) -> None:
        """Raises LedgerFault."""
        raise fault(self.path, f"can't be copied to {target}", "copy it with pg_dump")

    def run(self, query: str, *values: object) -> list[tuple[object, ...]]:
        """The rows that one statement returns."""
        cursor = self._db.execute(query.replace("?", "%s").encode(), values or None)
        return cursor.fetchall() if cursor.description else []

    def sign(self) -> HeldLock:
        """Takes a process lock: an advisory lock of this connection."""
        self.run("SELECT pg_advisory_lock(?)", _number(name := secrets.token_hex(16)))
        return HeldLock(name)

    def is_alive(self, name: str) -> bool:
        """Whether some connection holds the process lock of that name."""
        query = (
            "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1 "
            "AND (classid::bigint << 32 | objid::bigint) = ? AND database = "
            "(SELECT oid FROM pg_database WHERE datname = current_database())"
        )
        return bool(self.run(query, _number(name)))

    def remove_stale(self) -> None:
        """Does nothing: advisory locks leave nothing behind."""


def connect_server(server: Server) -> PostgresDatabase:
    """A connection whose commits are durable; LedgerFault if the server can't promise that."""
    try:
        import psycopg  # noqa: PLC0415 - an extra, and slow to import
    except ImportError:
        do = f"install it: {install_extra('postgres')}"
        raise fault(server, "needs the driver psycopg", do) from None
    with _translated_errors(server):
        connection = psycopg.connect(
            server.url, autocommit=True, connect_timeout=10, application_name="dpsql ledger"
        )
        database = PostgresDatabase(server, connection)
        try:
            database.run(f"SET search_path TO {_quoted(server.schema)}")
            database.run(f"SET lock_timeout TO '{int(PATIENCE_SECONDS)}s'")
            database.run("SET statement_timeout TO 0")
            database.run("SET idle_session_timeout TO 0")  # the process lock ends with the session
            database.run("SET client_encoding TO 'UTF8'")
            _check_direct(database, connection.info.backend_pid)
            _check_durable(database)
        except BaseException:
            connection.close()
            raise
    return database


def _check_direct(database: PostgresDatabase, process_id: int) -> None:
    """Raises LedgerFault if the server's process isn't `process_id`, which a pool makes up.

    A pool may lend a connection by the transaction, with what others have set for it.
    """
    if database.run("SELECT pg_backend_pid()") != [(process_id,)]:
        raise fault(database.path, "is reached through a pool", "connect to the server itself")


def _check_durable(database: PostgresDatabase) -> None:
    if database.run("SELECT pg_is_in_recovery()") != [(False,)]:
        raise fault(database.path, "is a standby", "name the server that takes writes")
    if database.run("SHOW fsync") != [("on",)]:
        raise fault(database.path, "may lose what it committed", "turn the server's fsync on")
    # A stricter setting, by which commits also wait for standbys, stays.
    if database.run("SHOW synchronous_commit")[0][0] in {"off", "local"}:
        database.run("SET synchronous_commit TO on")


@contextmanager
def _translated_errors(server: Server) -> Iterator[None]:
    """Turns psycopg's errors into LedgerFaults without their text, which may quote data."""
    import psycopg  # noqa: PLC0415 - who gets here has it

    try:
        yield
    except LedgerFault:
        raise
    except psycopg.errors.LockNotAvailable:
        what, do = "is locked by another process", "ask again; then look for who holds it"
    except psycopg.IntegrityError:
        what, do = "contradicts itself", REPORT
    except psycopg.errors.DiskFull:
        raise full(server) from None
    except (psycopg.errors.InsufficientPrivilege, psycopg.errors.InvalidSchemaName):
        what, do = _NO_RIGHT
    except psycopg.OperationalError:
        what, do = "can't be reached", "check server, network and password, and ask again"
    except psycopg.Error as error:
        what, do = f"failed (SQLSTATE {error.sqlstate or 'unknown'})", "see the server's log"
    else:
        return
    raise fault(server, what, do) from None


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _number(name: str) -> int:
    """The 63-bit key of the advisory lock that stands for `name`, by its hash."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") >> 1
