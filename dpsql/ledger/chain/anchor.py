"""The second file of a ledger, by which one that was rolled back is recognized.

The anchor lists the number and hash of every entry, one line of one width each, and only ever
grows. The one rule: the anchor is a prefix of the lines that the chain's entries would have. A
ledger that was replaced by an older copy has fewer entries than its anchor has lines; one that was
rewritten, or belongs to another anchor, has other hashes.

Who can write both files can forge both; only receipts in other hands, or an anchor on a medium that
nobody can rewrite, show that.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from msgspec import Struct

from dpsql.ledger.fault import RESTORE, fault, translated_errors
from dpsql.ledger.storage.file_safety import create_private
from dpsql.ledger.storage.sync_queue import sync_file

WIDTH = 12 + 1 + 64 + 1
"""Bytes of a line: number, space, hash, line feed."""

# The end is read three times for each charge: to make a file object takes longer than to read it.
_READ = os.O_RDONLY | getattr(os, "O_BINARY", 0)
_APPEND = os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0)

_LINE = re.compile(rb"(\d{12}) ([0-9a-f]{64})\n")


class Tail(Struct, frozen=True):
    """The last whole line (`seq` 0: there is none), and the bytes of a part of a line behind it."""

    seq: int
    hash: str
    torn: bytes


def line(seq: int, own_hash: str) -> bytes:
    """The anchor's line of one entry."""
    return f"{seq:012d} {own_hash}\n".encode()


class Anchor:
    """The file at `path`, opened anew for each use, so that a replaced file can't hide."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def exists(self) -> bool:
        """Whether the file exists, if only an empty one."""
        with translated_errors(self.path):
            return self.path.exists()

    def tail(self) -> Tail:
        """The end of the file, empty if it doesn't exist; LedgerFault if it is damaged."""
        with translated_errors(self.path):
            try:
                file = os.open(self.path, _READ)
            except FileNotFoundError:
                return Tail(0, "", b"")
            try:
                count, rest = divmod(os.fstat(file).st_size, WIDTH)
                whole = WIDTH if count else 0
                os.lseek(file, count * WIDTH - whole, os.SEEK_SET)
                end = os.read(file, whole + rest)
            finally:
                os.close(file)
        last, torn = end[:whole], end[whole:]
        if not count:
            return Tail(0, "", torn)
        match = _LINE.fullmatch(last)
        if match is None or int(match[1]) != count:
            raise fault(self.path, "is damaged: its last line is no line of an anchor", RESTORE)
        return Tail(count, match[2].decode(), torn)

    def content(self, after: int = 0) -> bytes:
        """The lines after line number `after`; the last may be torn. Empty if there is no file."""
        with translated_errors(self.path):
            try:
                file = self.path.open("rb")
            except FileNotFoundError:
                return b""
            with file:
                file.seek(after * WIDTH)
                return file.read()

    def append(self, tail: Tail, lines: bytes) -> None:
        """Appends `lines` after `tail`; completes a line that a crash tore. Doesn't sync them.

        `lines` begins with that line, whole; LedgerFault if the torn part isn't its beginning.
        """
        if not lines.startswith(tail.torn):
            what = "is damaged: it ends in a part of a line that isn't the chain's"
            raise fault(
                self.path, what, f"look at the last line, cut it off, keep {WIDTH * tail.seq} bytes"
            )
        with translated_errors(self.path):
            if not tail.seq and not self.path.exists():
                create_private(self.path)
            file = os.open(self.path, _APPEND)
            try:
                rest = lines[len(tail.torn) :]
                while rest:
                    rest = rest[os.write(file, rest) :]
            finally:
                os.close(file)

    def sync(self) -> None:
        """Waits until all lines are on disk, whoever wrote them; LedgerFault if that fails."""
        with translated_errors(self.path):
            sync_file(self.path)
