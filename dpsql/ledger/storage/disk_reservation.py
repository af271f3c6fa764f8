"""Disk space that is held while a charged statement runs, so that its answer can be recorded.

A charge whose answer finds no room is spent for nothing. So a file of zeros is laid beside the
ledger before the charge, and taken away when the answer is about to be written; another, of a few
lines, beside the anchor, which may be on another disk. What others take in that moment can't be
held; then the message says that the charge stands.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from dpsql.ledger.chain.hash_chain import Chain
from dpsql.ledger.fault import translated_errors

MIN_BYTES: Final = 1024 * 1024
"""Bytes for an answer of a few thousand cells, its entries, and their pages of the tables."""

_LINES: Final = 8192
_MARK: Final = "-room-"


class Room:
    """What one opening of a ledger holds for the statement that it runs."""

    def __init__(self, chain: Chain, owner: str) -> None:
        self._lines = _sibling(chain.anchor.path, owner)
        self._answer = None if chain.database.is_shared else _sibling(_file(chain), owner)

    def hold(self, size: int) -> None:
        """Hold `size` bytes for an answer, or LedgerFull."""
        try:
            _hold(self._lines, _LINES)
            if self._answer is not None:
                _hold(self._answer, size)
        except BaseException:
            self.give()
            raise

    def give_lines(self) -> None:
        """The anchor may grow."""
        _remove(self._lines)

    def give(self) -> None:
        """The anchor and the ledger may grow."""
        self.give_lines()
        if self._answer is not None:
            _remove(self._answer)


def remove_stale(chain: Chain) -> None:
    """What is held for nobody alive is given back. Done under the write lock."""
    places = [chain.anchor.path] if chain.database.is_shared else [chain.anchor.path, _file(chain)]
    for path in places:
        for left in path.parent.glob(f"{path.name}{_MARK}*"):
            if not chain.database.is_alive(left.name.rpartition(_MARK)[2]):
                _remove(left)


def _file(chain: Chain) -> Path:
    assert isinstance(chain.path, Path)
    return chain.path


def _sibling(path: Path, name: str) -> Path:
    return path.with_name(f"{path.name}{_MARK}{name}")


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
