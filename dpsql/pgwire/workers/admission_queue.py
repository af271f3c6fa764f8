"""Statements that wait for their turn, in the order in which they came.

SQLite lets whoever polls at the right moment write, so that of fifty sessions one may wait for very
long; here those few that are to be charged next are the only ones that ask it. And what two ask at
the same time is charged once: the second waits for the first one's answer, which is then stored.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager

from dpsql.errors import ExecutionFailed

Ticket = Future[None]
"""One statement's place in the line; it is done once the statement may go in."""


class AdmissionQueue:
    """At most `places` are inside at once, no two with a key in common; the others wait."""

    def __init__(self, size: int) -> None:
        self._guard = threading.Lock()
        self._size = size
        self._inside: list[frozenset[str]] = []
        self._waiting: dict[Ticket, frozenset[str]] = {}

    @property
    def waiting(self) -> int:
        """How many wait."""
        return len(self._waiting)

    @contextmanager
    def acquire(self, ticket: Ticket, keys: frozenset[str]) -> Iterator[None]:
        """Wait, and be inside; raises ExecutionFailed if `ticket` was given back by then."""
        with self._guard:
            self._waiting[ticket] = keys
            self._let_in()
        ticket.result()
        try:
            yield
        finally:
            with self._guard:
                self._inside.remove(keys)
                self._let_in()

    def cancel(self, ticket: Ticket) -> None:
        """Wait no more; who is inside stays there."""
        with self._guard:
            if self._waiting.pop(ticket, None) is None:
                return
        ticket.set_exception(ExecutionFailed())

    def _let_in(self) -> None:
        for ticket, keys in list(self._waiting.items()):
            if len(self._inside) == self._size:
                return
            if all(keys.isdisjoint(others) for others in self._inside):
                del self._waiting[ticket]
                self._inside.append(keys)
                ticket.set_result(None)
