"""One opening of a ledger for the sessions of a process that serves many.

To open a ledger, all since its last checkpoint is checked, and of every other opening whether its
process lives. Sessions of one schema share what was opened for the first of them. The last one that
lets go of it closes it, so that a statement which still runs over a schema that was replaced since
has its answer stored.
"""

from __future__ import annotations

import threading

from dpsql.ledger.ledger import Ledger


class SharedLedger:
    """An open `ledger`, of which whoever shares it is one user from the start."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._terms = ledger.terms
        self._guard = threading.Lock()
        self._users = 1

    def lease(self) -> Ledger | None:
        """The ledger, for one user more, who calls `give` once; None if it can't be shared now.

        That is so once it is closed, and where its terms have changed since it was opened: whoever
        opens it for themselves is refused if their schema doesn't fit them. The file is read anew:
        whoever comes after it was damaged is told so.
        """
        with self._guard:
            if not self._users:
                return None
            self._users += 1
        fits = False
        try:
            fits = self._ledger.terms_on_disk == self._terms
        finally:
            if not fits:
                self.give()
        return self._ledger if fits else None

    def give(self) -> None:
        """One user doesn't use it any more; it is closed after the last one."""
        with self._guard:
            self._users -= 1
            if self._users:
                return
        self._ledger.close()
