"""A small file that says what has certain names under a stamp; of another stamp it says nothing."""

from __future__ import annotations

import json
import os
from pathlib import Path

import msgspec
from msgspec import Struct

from dpsql.engine.atomic_file import unfinished
from dpsql.errors import SourceFault


class NamedRecord(Struct, frozen=True):
    """The `names` that were recorded under `stamp`."""

    stamp: str
    names: frozenset[str]

    @classmethod
    def load(cls, path: Path) -> NamedRecord | None:
        """Read the record at `path`; None if there is none that can be read."""
        try:
            # Decoded as a known type, so that nothing can nest deeper than the stack.
            record = msgspec.json.decode(path.read_bytes(), type=dict[str, list[str]])
            ((stamp, names),) = record.items()
        except (OSError, ValueError):
            return None
        return cls(stamp, frozenset(names))

    def save(self, path: Path, what: str) -> None:
        """Write the record whole or not at all, readable by its owner only.

        Raises SourceFault rather than replace a file that is no record, and so isn't `what`.
        """
        if os.path.lexists(path) and NamedRecord.load(path) is None:
            raise SourceFault(f"{path} is no {what}", hint="move it away, and do it again")
        with unfinished(path) as folder:
            written = folder / "record"
            with os.fdopen(os.open(written, os.O_CREAT | os.O_WRONLY, 0o600), "w") as stream:
                json.dump({self.stamp: sorted(self.names)}, stream)
                stream.flush()
                os.fsync(stream.fileno())
            written.replace(path)
