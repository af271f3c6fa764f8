"""One transaction of a connection to a ledger's file: committed as a whole, or undone."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

from dpsql.ledger.fault import TranslatedErrors, translation


class Transaction:
    """Committed once it is left; rolled back if an error leaves it.

    `begin` is the statement that begins it; `check` raises what is wrong with the file by then.
    Errors of SQLite and of the operating system become faults of the file `path`.
    """

    __slots__ = ("_begin", "_check", "_db", "_path")

    def __init__(
        self, path: Path, db: sqlite3.Connection, begin: str, check: Callable[[], None]
    ) -> None:
        self._path = path
        self._db = db
        self._begin = begin
        self._check = check

    def __enter__(self) -> None:
        with TranslatedErrors(self._path):
            try:
                self._db.execute(self._begin)
                self._check()
            except BaseException:
                self._undo()
                raise

    def __exit__(self, _: object, error: BaseException | None, trace: object) -> None:
        with TranslatedErrors(self._path):
            if error is not None:
                self._undo()
            else:
                self._commit()
        if error is not None and (translated := translation(self._path, error)) is not None:
            raise translated from error

    def _commit(self) -> None:
        try:
            self._db.execute("COMMIT")
        except BaseException:
            self._undo()
            raise

    def _undo(self) -> None:
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")
