"""What a ledger needs of the database that holds it: a file of its own, or a server."""

from __future__ import annotations

import hashlib
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from dpsql.engine.connection_string import server_name
from dpsql.ledger.fault import LedgerLocation
from dpsql.structs import not_shown


@not_shown("url")
class Server(Struct, frozen=True):
    """The ledger of `dataset` in the PostgreSQL database that the connection string `url` names.

    Each dataset has a schema of its own there. `str` of a Server shows no user and no password.
    """

    url: str
    dataset: str

    @property
    def schema(self) -> str:
        """The name of the schema that holds the tables; PostgreSQL allows at most 63 bytes."""
        name = f"dpsql_{self.dataset}"
        if len(name) <= 63:
            return name
        return f"dpsql_{hashlib.sha256(self.dataset.encode()).hexdigest()[:32]}"

    def __str__(self) -> str:
        return f"{server_name(self.url)} ({self.dataset})"


Location = Path | Server


class ProcessLock(Protocol):
    """The lock that one opening of a ledger holds until it closes or its process ends."""

    @property
    def name(self) -> str:
        """The lock's name, with which requests of that opening are marked as their owner."""

    def close(self) -> None:
        """Releases the lock."""


class Backend(Protocol):
    """One connection to a ledger's tables; `run` belongs inside `writing` or `reading`.

    `is_shared`: several servers use it, and each has an anchor of its own.
    """

    is_shared: bool

    @property
    def path(self) -> LedgerLocation:
        """The file or the server, as messages name it."""

    @property
    def lost(self) -> bool:
        """Whether a server has ended the connection."""

    @property
    def commit_lost(self) -> bool:
        """Whether a server ended it without a word on whether what was committed last holds."""

    def close(self) -> None:
        """Closes the connection."""

    def writing(self, *, waits: bool = True) -> AbstractContextManager[None]:
        """One exclusive transaction: durable once it is left, rolled back if an error leaves it.

        Unless it `waits`, it may be durable only once a later one is, or `sync` has returned.
        """

    def savepoint(self) -> AbstractContextManager[object]:
        """A part of a transaction, undone alone if an error leaves it."""

    def sync(self) -> None:
        """Waits until all that was committed before is durable; any thread may, at any time."""

    def reading(self) -> AbstractContextManager[None]:
        """A transaction that reads one snapshot."""

    def blank(self) -> bool:
        """Whether there are no tables yet."""

    def create(self) -> None:
        """Creates the tables, empty."""

    def upgrade(self) -> None:
        """Turns tables of an older format into ones of this format."""

    def check_format(self) -> None:
        """Raises LedgerFault if the tables have another format."""

    def check_pages(self) -> None:
        """Runs the database's own checks; LedgerFault if one fails."""

    def copy(self, target: Path) -> None:
        """Copies the database to the empty file `target`."""

    def run(self, query: str, *values: object) -> list[tuple[object, ...]]:
        """The rows that one statement returns; `values` are those of its question marks."""

    def sign(self) -> ProcessLock:
        """Takes a new process lock. Done under the write lock."""

    def is_alive(self, name: str) -> bool:
        """Whether the process lock of that name is held still."""

    def remove_stale(self) -> None:
        """Removes what process locks that nobody holds left. Done under the write lock."""
