"""The ledger's SQLite file: its tables, its transactions, and the check that it is a ledger.

Content is in `entry`, `answer` and `named`. Accounts are running totals of the chain, and the other
tables but `refusal` point into the chain, so that content is checked against a hash of an entry.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

from dpsql.ledger.amount import DIGITS
from dpsql.ledger.fault import RESTORE, fault, other_format, translated_errors
from dpsql.ledger.storage.process_lock import FileLock, is_alive, remove_stale
from dpsql.ledger.storage.sync_queue import sync_file

PATIENCE_SECONDS = 30.0

_WAITING, _HASTY = "FULL", "NORMAL"
"""How SQLite writes what has to be on a disk, where each commit syncs the log, and what hasn't."""

_APPLICATION = 0x64707371
_FORMAT = 3

_APPEND_ONLY = "BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END"

_NAMED = """CREATE TABLE named (
  analyst TEXT NOT NULL,
  name TEXT NOT NULL,
  entry INTEGER NOT NULL REFERENCES entry (seq),
  about TEXT NOT NULL,
  bytes BLOB NOT NULL,
  PRIMARY KEY (analyst, name)
)"""

_FAILED = """CREATE TABLE failed (
  key TEXT NOT NULL,
  entry INTEGER NOT NULL REFERENCES entry (seq),
  PRIMARY KEY (key, entry)
) WITHOUT ROWID"""

# Text of one width compares as numbers do; NULL is no cap, and a CHECK that is NULL holds.
_TABLES = {
    "entry": """CREATE TABLE entry (
  seq INTEGER PRIMARY KEY CHECK (seq > 0),
  hash TEXT NOT NULL CHECK (length(hash) = 64),
  body TEXT NOT NULL
)""",
    "entry_update": f"CREATE TRIGGER entry_update BEFORE UPDATE ON entry {_APPEND_ONLY}",
    "entry_delete": f"CREATE TRIGGER entry_delete BEFORE DELETE ON entry {_APPEND_ONLY}",
    "in_force": """CREATE TABLE in_force (
  terms INTEGER NOT NULL REFERENCES entry (seq),
  summed INTEGER REFERENCES entry (seq)
)""",
    "account": f"""CREATE TABLE account (
  analyst TEXT PRIMARY KEY NOT NULL,
  spent TEXT NOT NULL CHECK (length(spent) = {DIGITS}),
  cap TEXT CHECK (length(cap) = {DIGITS}),
  delta TEXT NOT NULL CHECK (length(delta) = {DIGITS}),
  delta_cap TEXT CHECK (length(delta_cap) = {DIGITS}),
  CHECK (spent <= cap),
  CHECK (delta <= delta_cap)
) WITHOUT ROWID""",
    "request": """CREATE TABLE request (
  id TEXT PRIMARY KEY NOT NULL,
  charged INTEGER NOT NULL UNIQUE REFERENCES entry (seq),
  settled INTEGER UNIQUE REFERENCES entry (seq),
  owner TEXT NOT NULL
) WITHOUT ROWID""",
    "request_open": "CREATE INDEX request_open ON request (owner) WHERE settled IS NULL",
    "kept": """CREATE TABLE kept (
  key TEXT PRIMARY KEY NOT NULL,
  released INTEGER NOT NULL REFERENCES entry (seq)
) WITHOUT ROWID""",
    "seen": """CREATE TABLE seen (
  key TEXT NOT NULL REFERENCES kept (key),
  analyst TEXT NOT NULL,
  entry INTEGER NOT NULL REFERENCES entry (seq),
  PRIMARY KEY (key, analyst)
) WITHOUT ROWID""",
    "refusal": """CREATE TABLE refusal (
  analyst TEXT NOT NULL,
  sqlstate TEXT NOT NULL,
  query TEXT NOT NULL,
  message TEXT NOT NULL,
  times INTEGER NOT NULL,
  last TEXT NOT NULL,
  PRIMARY KEY (analyst, sqlstate, query)
) WITHOUT ROWID""",
    "answer": """CREATE TABLE answer (
  hash TEXT PRIMARY KEY NOT NULL CHECK (length(hash) = 64),
  bytes BLOB NOT NULL
)""",
    "named": _NAMED,
    "failed": _FAILED,
}


class Database:
    """One connection to the ledger's file; `run` belongs inside `writing` or `reading`."""

    is_shared = False
    lost = commit_lost = False

    def __init__(self, path: Path, *, reads: bool = False) -> None:
        """`reads`: nothing is written into the file, nor beside it in a read-only folder."""
        self.path = path
        self._waits = True
        with translated_errors(path):
            self._file = _identity(path)
            self._db = sqlite3.connect(
                f"{path.as_uri()}?{_mode(path) if reads else 'mode=rw'}",
                uri=True,
                timeout=PATIENCE_SECONDS,
                isolation_level=None,
                check_same_thread=False,
            )
            try:
                for pragma in (
                    f"synchronous = {_WAITING}",
                    # macOS's fsync leaves the data in the drive's cache unless asked again.
                    "fullfsync = ON",
                    "checkpoint_fullfsync = ON",
                    "foreign_keys = ON",
                    "trusted_schema = OFF",
                    "cell_size_check = ON",
                ):
                    self._db.execute(f"PRAGMA {pragma}")
                self._check_own()
                if not reads:
                    self._keep_log()
            except BaseException:
                self._db.close()
                raise

    def close(self) -> None:
        """Closes the file; SQLite folds its log into the file if nobody else has it open."""
        with translated_errors(self.path):
            self._db.close()

    def version(self) -> int:
        """Another number than before, once another connection has committed."""
        with translated_errors(self.path):
            self._check_file()
            ((number,),) = self._db.execute("PRAGMA data_version").fetchall()
        return int(number)

    def writing(self, *, waits: bool = True) -> AbstractContextManager[None]:
        """One exclusive transaction: durable once it is left, rolled back if an error leaves it.

        Unless it `waits`, it outlives the process, and the machine only once a later one is
        durable: the log is synced as a whole, and what isn't whole at its end is cut off.
        """
        if waits != self._waits:  # to set it takes as long as to read a row
            self._waits = False  # if this is interrupted, whoever waits sets it again
            self._db.execute(f"PRAGMA synchronous = {_WAITING if waits else _HASTY}")
            self._waits = waits
        return self._transaction("IMMEDIATE")

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """A part of a transaction, undone alone if an error leaves it."""
        self._db.execute("SAVEPOINT part")
        try:
            yield
        except BaseException:
            if self._db.in_transaction:  # SQLite ends all of it where the disk is full
                self._db.execute("ROLLBACK TO part")
            raise
        finally:
            if self._db.in_transaction:
                self._db.execute("RELEASE part")

    def reading(self) -> AbstractContextManager[None]:
        """A transaction that reads one snapshot."""
        return self._transaction("DEFERRED")

    @contextmanager
    def _transaction(self, kind: str) -> Iterator[None]:
        with translated_errors(self.path):
            try:
                self._db.execute(f"BEGIN {kind}")
                self._check_file()
                yield
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    def blank(self) -> bool:
        """Whether the file has no tables yet."""
        return not self.run("SELECT 1 FROM sqlite_master LIMIT 1")

    def sync(self) -> None:
        """Waits until all that was committed is durable, as each commit that waits does.

        Where others have folded the log into the file since, SQLite has synced both before.
        """
        with translated_errors(self.path):
            sync_file(self.path.with_name(self.path.name + "-wal"))

    def create(self) -> None:
        """Creates the tables, empty."""
        self._db.execute(f"PRAGMA application_id = {_APPLICATION}")
        self._db.execute(f"PRAGMA user_version = {_FORMAT}")
        for statement in _TABLES.values():
            self._db.execute(statement)

    def upgrade(self) -> None:
        """Adds what older formats lack: format 1 had no table `named`, 1 and 2 no `failed`."""
        ((version,),) = self.run("PRAGMA user_version")
        for older, table in ((1, _NAMED), (2, _FAILED)):
            if isinstance(version, int) and 1 <= version <= older:
                self._db.execute(table)
                self._db.execute(f"PRAGMA user_version = {_FORMAT}")

    def sign(self) -> FileLock:
        """Takes a process lock, on a small file in a folder beside the ledger."""
        return FileLock(self._signs())

    def is_alive(self, name: str) -> bool:
        """Whether a process holds the process lock of that name."""
        return is_alive(self._signs(), name)

    def remove_stale(self) -> None:
        """Removes the files of process locks that nobody holds."""
        remove_stale(self._signs())

    def _signs(self) -> Path:
        return self.path.with_name(self.path.name + "-live")

    def copy(self, target: Path) -> None:
        """Copies the database to the empty file `target`."""
        # The connection that holds the lock can't be its own source.
        with (
            translated_errors(target),
            closing(sqlite3.connect(f"{self.path.as_uri()}?mode=ro", uri=True)) as source,
            closing(sqlite3.connect(target)) as other,
        ):
            source.backup(other)

    def check_format(self) -> None:
        """Raises LedgerFault if format or tables differ, down to the text of every constraint."""
        if self.run("PRAGMA user_version") != [(_FORMAT,)]:
            raise other_format(self.path, _FORMAT)
        tables = self.run("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
        if {name: text for name, text in tables} != _TABLES:  # noqa: C416 - mypy knows no pairs
            raise fault(self.path, "has other tables than it was created with", RESTORE)

    def check_pages(self) -> None:
        """Raises LedgerFault if SQLite finds a page, an index or a reference damaged."""
        for check in ("integrity_check(1)", "foreign_key_check"):
            if self.run(f"PRAGMA {check}") not in ([], [("ok",)]):
                raise fault(self.path, "is damaged", RESTORE)

    def run(self, query: str, *values: object) -> list[tuple[object, ...]]:
        """The rows that one statement returns."""
        return self._db.execute(query, values).fetchall()

    def _check_own(self) -> None:
        # Done before anything is written: the path may name somebody's own database by mistake.
        if not self.blank() and self.run("PRAGMA application_id") != [(_APPLICATION,)]:
            raise fault(self.path, "is no ledger of dpsql", "name the ledger's own file")

    def _keep_log(self) -> None:
        if self.run("PRAGMA journal_mode = WAL") != [("wal",)]:
            raise fault(self.path, "can't keep a log beside it", "move it to a local disk")

    def _check_file(self) -> None:
        # An open file goes on working when its name was removed, or is another file's by now.
        if _identity(self.path) != self._file:
            what = "was replaced while it was open"
            raise fault(self.path, what, "put the file back and open it again")


def _mode(path: Path) -> str:
    """The URI parameters for reading: on a medium that can't be written, SQLite takes no locks."""
    if os.access(path.parent, os.W_OK):
        return "mode=ro"
    log, shared = (path.with_name(path.name + end) for end in ("-wal", "-shm"))
    if not log.exists() or not log.stat().st_size:
        return "mode=ro&immutable=1"
    if not shared.exists():
        what = "has a log (-wal) that can't be read in a folder that can't be written"
        raise fault(path, what, "copy both, and the anchor, to where they can be written")
    return "mode=ro"


def _identity(path: Path) -> tuple[int, int]:
    status = os.stat(path)  # noqa: PTH116 - in each transaction
    return status.st_dev, status.st_ino
