"""Disk space that is reserved while a charged statement runs, so that its answer can be recorded.

A charge whose answer finds no room is spent for nothing. So a file of zeros is laid beside the
ledger before the charge, and removed when the answer is about to be written; another, of a few
lines, is laid beside the anchor, which may be on another disk. Space that other processes take
between removal and writing is lost; the error then says that the charge stands.

Where a disk has plenty of room, nothing is laid: to remove a file takes longer than a charge.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from dpsql.engine.atomic_file import siblings
from dpsql.ledger.chain.hash_chain import Chain
from dpsql.ledger.fault import translated_errors

MIN_BYTES: Final = 1024 * 1024
"""Bytes for an answer of a few thousand cells, its entries, and their pages of the tables."""

_LINES: Final = 8192
"""Bytes for the anchor's lines of one statement."""
_MARK: Final = "-room-"
_NUMBERED: Final = "."

_PLENTY: Final = 256 * 1024 * 1024
"""Bytes beyond what is reserved, which nothing else takes while a statement runs."""


class Room:
    """The space that an opening of a ledger, `owner`, reserves for its statement of that number."""

    def __init__(self, chain: Chain, owner: str, number: int) -> None:
        self._anchor = chain.anchor.path
        self._answer = None if chain.database.is_shared else _file(chain)
        self._owner, self._number = owner, number
        self._held: dict[Path, Path] = {}
        """What is laid, by the file that it is laid beside."""

    def hold(self, size: int) -> None:
        """Reserves `size` bytes for an answer, and the anchor's lines; or LedgerFull."""
        try:
            self._hold(self._anchor, _LINES)
            if self._answer is not None:
                self._hold(self._answer, size)
        except BaseException:
            self.give()
            raise

    def give_lines(self) -> None:
        """Frees the space beside the anchor, which is about to grow."""
        self._give(self._anchor)

    def give(self) -> None:
        """Frees all reserved space; the anchor and the ledger are about to grow."""
        for file in tuple(self._held):
            self._give(file)

    def _hold(self, file: Path, size: int) -> None:
        if not _has_plenty(file.parent, size):
            reserved = self._held[file] = _sibling(file, self._owner, self._number)
            _hold(reserved, size)

    def _give(self, file: Path) -> None:
        reserved = self._held.pop(file, None)
        if reserved is not None:
            _remove(reserved)


def remove_stale(chain: Chain) -> None:
    """Frees the space of openings whose process is gone. Done under the write lock."""
    files = [chain.anchor.path] if chain.database.is_shared else [chain.anchor.path, _file(chain)]
    for path in files:
        for reserved in siblings(path, _MARK):
            owner = reserved.name.rpartition(_MARK)[2].partition(_NUMBERED)[0]
            if not chain.database.is_alive(owner):
                _remove(reserved)


def _file(chain: Chain) -> Path:
    assert isinstance(chain.path, Path)
    return chain.path


def _sibling(path: Path, owner: str, number: int) -> Path:
    return path.with_name(f"{path.name}{_MARK}{owner}{_NUMBERED}{number}")


def _has_plenty(folder: Path, size: int) -> bool:
    """Whether `folder` has room for `size` bytes and much more; False where none can tell."""
    if not hasattr(os, "statvfs"):
        return False
    with translated_errors(folder):
        status = os.statvfs(folder)
    return status.f_bavail * status.f_frsize >= size + _PLENTY


def _hold(path: Path, size: int) -> None:
    flags = os.O_CREAT | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0)
    with translated_errors(path), os.fdopen(os.open(path, flags, 0o600), "wb", 0) as file:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size)
            return
        file.writelines(bytes(min(size, MIN_BYTES)) for _ in range(0, size, MIN_BYTES))


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink(missing_ok=True)
