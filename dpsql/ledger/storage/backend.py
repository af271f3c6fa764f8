"""What a ledger needs of the database that holds it: a file of its own, or a server."""

from __future__ import annotations

import hashlib
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from dpsql.ledger.fault import LedgerLocation


@dataclass(frozen=True, slots=True)
class Server:
    """The ledger of `dataset` in the PostgreSQL database that the connection string `url` names.

    Each dataset has a schema of its own there. Its text shows no password.
    """

    url: str
    dataset: str

    @property
    def schema(self) -> str:
        """The name of the schema that holds the tables; names there have 63 bytes."""
        name = f"dpsql_{self.dataset}"
        if len(name) <= 63:
            return name
        return f"dpsql_{hashlib.sha256(self.dataset.encode()).hexdigest()[:32]}"

    def __str__(self) -> str:
        parts = urlsplit(self.url)
        place = parts.netloc.rpartition("@")[2]
        return f"{parts.scheme}://{place}{parts.path} ({self.dataset})"


Location = Path | Server


class ProcessLock(Protocol):
    """One opening's sign of life, which the system takes down when its process ends."""

    @property
    def name(self) -> str:
        """What requests of that opening are marked with."""

    def close(self) -> None:
        """The sign is taken down."""


class Backend(Protocol):
    """One connection to a ledger's tables; `run` belongs inside `writing` or `reading`.

    `is_shared`: several servers use it, and each has an anchor of its own.
    """

    is_shared: bool

    @property
    def path(self) -> LedgerLocation:
        """How messages name it."""

    @property
    def lost(self) -> bool:
        """The other side has ended the connection."""

    def close(self) -> None:
        """The connection is closed."""

    def writing(self) -> AbstractContextManager[None]:
        """One exclusive transaction: durable when it ends well, without a trace otherwise."""

    def reading(self) -> AbstractContextManager[None]:
        """One snapshot."""

    def blank(self) -> bool:
        """It holds nothing yet."""

    def create(self) -> None:
        """The tables, empty."""

    def upgrade(self) -> None:
        """Tables of an older format become ones of this."""

    def check_format(self) -> None:
        """Refuses tables of another format."""

    def check_pages(self) -> None:
        """What the database itself can check is in order."""

    def copy(self, target: Path) -> None:
        """The empty file `target` becomes a copy."""

    def run(self, query: str, *values: object) -> list[tuple[object, ...]]:
        """The rows that one statement returns; its parameters are question marks."""

    def sign(self) -> ProcessLock:
        """A new sign of life. Done under the write lock."""

    def is_alive(self, name: str) -> bool:
        """The opening of that sign still lives."""

    def remove_stale(self) -> None:
        """Signs that nobody holds are removed. Done under the write lock."""
