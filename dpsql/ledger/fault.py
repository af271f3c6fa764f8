"""Errors about a broken ledger: each names the file, what is wrong, and what its owner can do."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from dpsql.errors import LedgerFault, LedgerFull

RESTORE = (
    "bring back the newest copy of both files; if there is none, what was spent is unknown: "
    "give the dataset a new id and count its losses on top of the old ones"
)
REPORT = "keep both files for the owner and restore the newest copy of the ledger"

_CAUSES = {
    sqlite3.SQLITE_BUSY: ("is locked by another process", "ask again; then look for who holds it"),
    sqlite3.SQLITE_LOCKED: ("is locked by another process", "ask again"),
    sqlite3.SQLITE_READONLY: ("can't be written", "make the file and its folder writable"),
    sqlite3.SQLITE_CANTOPEN: ("can't be opened", "check the folder and its permissions"),
    sqlite3.SQLITE_PERM: ("can't be opened", "check the folder and its permissions"),
    sqlite3.SQLITE_IOERR: ("can't be read or written", "check the disk and its free space"),
    sqlite3.SQLITE_CONSTRAINT: ("contradicts itself", REPORT),
    sqlite3.SQLITE_NOMEM: ("can't be read: memory is short", "ask again"),
    sqlite3.SQLITE_TOOBIG: ("can't hold an answer this long", "ask for fewer groups"),
    sqlite3.SQLITE_NOTADB: ("is no SQLite database", RESTORE),
}


_AMBIGUOUS = frozenset({sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN})
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})


class LedgerLocation(Protocol):
    """A ledger file or a server; its text is how messages name it, without a password."""

    def __str__(self) -> str: ...


def fault(path: LedgerLocation, what: str, do: str) -> LedgerFault:
    """A LedgerFault about the file or the server `path`: `what` is wrong with it, `do` is the hint.

    `what` completes the sentence "ledger file PATH …".
    """
    kind = "ledger file" if isinstance(path, Path) else "ledger"
    return LedgerFault(f"{kind} {path} {what}", hint=do)


def other_format(path: LedgerLocation, known: int) -> LedgerFault:
    """The LedgerFault of tables that have another format than `known`."""
    what = f"has another format than {known}"
    return fault(path, what, "open it with the version of dpsql that wrote it")


def full(path: LedgerLocation) -> LedgerFull:
    """The LedgerFault of a disk without room."""
    disk_full = fault(path, "can't grow: the disk is full", "free some space there, and ask again")
    return LedgerFull(disk_full.message, hint=disk_full.hint)


@contextmanager
def standing(what: str) -> Iterator[None]:
    """Appends `what` to the message of a LedgerFault that is raised inside.

    `what` says what became of the charge; it is also the fault's attribute `charge`.
    """
    try:
        yield
    except LedgerFault as error:
        with_charge = type(error)(f"{error.message}; {what}", hint=error.hint)
        with_charge.charge = what
        raise with_charge from error


def _has_no_room(path: Path) -> bool:
    """Whether the disk is full, which SQLite may report as an error of reading or opening."""
    try:
        return os.statvfs(path.parent).f_bavail == 0
    except (OSError, AttributeError):
        return False


@contextmanager
def translated_errors(path: Path) -> Iterator[None]:
    """Errors of SQLite and of the operating system become faults of the file `path`."""
    try:
        yield
    except UnicodeDecodeError as error:
        # SQLite quotes damaged bytes of the file in its message, and Python can't read them.
        raise fault(path, "is damaged", RESTORE) from error
    except sqlite3.Error as error:
        # The low byte is the cause; the others say where in SQLite it was met. The module itself
        # raises without a code for text that isn't UTF-8 and for blobs that are too long.
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
        if code == sqlite3.SQLITE_FULL or (code in _AMBIGUOUS and _has_no_room(path)):
            raise full(path) from error
        what, do = _CAUSES.get(code, ("is damaged", RESTORE))
        raise fault(path, what, do) from error
    except OSError as error:
        if error.errno in _NO_ROOM:
            raise full(path) from error
        reason = error.strerror or "the operating system refused"
        raise fault(
            path, f"can't be used: {reason.lower()}", "check disk and permissions"
        ) from error
