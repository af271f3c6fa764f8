"""The second file, which tells a rolled-back ledger from a whole one.

It lists the number and hash of every entry, one line of one width each, and only ever grows. The
one rule: the anchor is a prefix of the lines of the chain. A ledger that was replaced by an older
copy is shorter than its anchor; one that was rewritten, or belongs elsewhere, differs from it.

Who can write both files can forge both; only receipts in other hands, or an anchor on a medium that
nobody can rewrite, show that.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from dpsql.ledger.fault import RESTORE, fault, translated_errors
from dpsql.ledger.storage.file_safety import create_private

WIDTH = 12 + 1 + 64 + 1

_LINE = re.compile(rb"(\d{12}) ([0-9a-f]{64})\n")


@dataclass(frozen=True, slots=True)
class Tail:
    """The last whole line, `seq` 0 if there is none, and the part of a line that follows it."""

    seq: int
    hash: str
    torn: bytes


def line(seq: int, own_hash: str) -> bytes:
    """What the anchor says of one entry."""
    return f"{seq:012d} {own_hash}\n".encode()


class Anchor:
    """The file at `path`, opened anew for each use, so that a replaced file can't hide."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def exists(self) -> bool:
        """There is such a file, if only an empty one."""
        with translated_errors(self.path):
            return self.path.exists()

    def tail(self) -> Tail:
        """The end of the file; that of an empty file if there is none."""
        with translated_errors(self.path):
            try:
                file = self.path.open("rb")
            except FileNotFoundError:
                return Tail(0, "", b"")
            with file:
                count, rest = divmod(os.fstat(file.fileno()).st_size, WIDTH)
                file.seek(max(count - 1, 0) * WIDTH)
                last = file.read(WIDTH) if count else b""
                torn = file.read(rest)
        if not count:
            return Tail(0, "", torn)
        found = _LINE.fullmatch(last)
        if found is None or int(found[1]) != count:
            raise fault(self.path, "is damaged: its last line is no line of an anchor", RESTORE)
        return Tail(count, found[2].decode(), torn)

    def content(self, after: int = 0) -> bytes:
        """The lines after line `after`; the last may be torn. Nothing if there is no file."""
        with translated_errors(self.path):
            try:
                file = self.path.open("rb")
            except FileNotFoundError:
                return b""
            with file:
                file.seek(after * WIDTH)
                return file.read()

    def append(self, tail: Tail, lines: bytes) -> None:
        """`lines` follow `tail` and are on disk; a line that was torn by a crash is completed."""
        if not lines.startswith(tail.torn):
            what = "is damaged: it ends in a part of a line that isn't the chain's"
            raise fault(
                self.path, what, f"look at the last line, cut it off, keep {WIDTH * tail.seq} bytes"
            )
        with translated_errors(self.path):
            if not self.path.exists():
                create_private(self.path)
            with self.path.open("ab", buffering=0) as file:
                rest = lines[len(tail.torn) :]
                while rest:
                    rest = rest[file.write(rest) :]
                os.fsync(file.fileno())
