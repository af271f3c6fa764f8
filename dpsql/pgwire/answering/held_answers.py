"""What answers take that clients may still read: of open portals, and of those that are being sent.

A connection may have many portals, and a client may read as slowly as it likes. What is stored, and
what the catalogue says, is free: two hundred portals of it would fill a server's memory.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from typing import Final
from weakref import WeakValueDictionary

from dpsql.pgwire.error_response import TooMany
from dpsql.pgwire.portal import Answer

_SMALL_BYTES: Final = 64 * 1024
"""An answer of so many bytes is never refused: there are no more of them than portals."""


class HeldAnswers:
    """The answers of each analyst that something refers to, of all their connections together."""

    def __init__(self, limit: int) -> None:
        """An analyst gets no further answer while those that they hold take more than `limit`."""
        self._limit = limit
        self._guard = threading.Lock()
        self._held: defaultdict[str, WeakValueDictionary[int, Answer]] = defaultdict(
            WeakValueDictionary
        )

    def add(self, analyst: str, answer: Answer) -> None:
        """Count `answer` until nothing refers to it; TooMany if `analyst` holds too much."""
        if answer.size <= _SMALL_BYTES:
            return
        with self._guard:
            held = self._held[analyst]
            if sum(other.size for other in held.values()) > self._limit:
                raise TooMany(
                    "your open cursors, and answers that are being read, have too many rows",
                    hint="close some; what was charged is stored, and free when it is asked again",
                )
            held[id(answer)] = answer
