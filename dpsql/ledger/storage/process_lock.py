"""Process locks: whether the process that opened a ledger still runs, seen from other processes.

A request that is charged may be running in another process right now, or its process may be gone.
A pid can't tell: pids are reused, and mean another process in another container. Age can't tell: a
slow query is no dead one. A lock can: each open ledger holds one on a small file of its own, and
the kernel releases it when the process ends, at kill -9 and at power failure too.

The lock is SQLite's, on an empty database, so it works wherever the ledger itself does.

A wrong verdict would cost an answer, never privacy: a burned charge isn't refunded, and a release
after it is refused.
"""

from __future__ import annotations

import secrets
import sqlite3
from contextlib import closing
from pathlib import Path

from dpsql.ledger.fault import translated_errors
from dpsql.ledger.storage.file_safety import create_private


class FileLock:
    """One opening's process lock, on a new file in `folder`. Taken under the write lock."""

    def __init__(self, folder: Path) -> None:
        self.name = secrets.token_hex(16)
        self._path = folder / self.name
        create_private(self._path)
        with translated_errors(self._path):
            self._lock = _connect(self._path)
            self._lock.execute("BEGIN EXCLUSIVE")

    def close(self) -> None:
        """Releases the lock and removes its file, after this opening's last request is settled."""
        self._lock.close()
        self._path.unlink(missing_ok=True)


def is_alive(folder: Path, name: str) -> bool:
    """Whether a process holds the lock of that name."""
    path = folder / name
    with translated_errors(path):
        try:
            with closing(_connect(path)) as probe:
                probe.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_BUSY:
                return True
            # Owners that end well remove their file, maybe just now.
            if path.exists():
                raise
    return False


def remove_stale(folder: Path) -> None:
    """Removes files whose lock nobody holds. Done under the write lock, as locks are taken."""
    for path in sorted(folder.iterdir()) if folder.exists() else []:
        if not is_alive(folder, path.name):
            path.unlink(missing_ok=True)


def _connect(path: Path) -> sqlite3.Connection:
    uri = f"{path.as_uri()}?mode=rw"
    database = sqlite3.connect(
        uri, uri=True, timeout=0, isolation_level=None, check_same_thread=False
    )
    try:
        # Else the lock would lay a journal beside the file.
        database.execute("PRAGMA journal_mode = OFF")
    except BaseException:
        database.close()
        raise
    return database
