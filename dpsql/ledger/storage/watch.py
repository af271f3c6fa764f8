"""Whether anybody has committed to a ledger's file since: told by SQLite, without a query."""

from __future__ import annotations

import threading
from pathlib import Path

from dpsql.ledger.storage.sqlite import Database


class LedgerWatch:
    """A connection to the ledger at `path` that commits nothing, so that every commit is another's.

    It is used from any thread; a ledger on a server has none, since only a query would tell.
    """

    def __init__(self, path: Path) -> None:
        self._guard = threading.Lock()
        self._database = Database(path.absolute(), reads=True)

    def version(self) -> int:
        """Another number than before once a process has committed; LedgerFault without the file."""
        with self._guard:
            return self._database.version()

    def close(self) -> None:
        """Closes the file."""
        with self._guard:
            self._database.close()
