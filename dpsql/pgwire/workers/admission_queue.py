"""Statements that wait for their turn, in the order in which they came.

SQLite lets the session write that polls at the right moment, so that one of fifty may wait for very
long; with the queue, only those few poll that are to be charged next. And a query that two sessions
send at the same time is charged once: the second waits for the first one's answer, which is stored.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager

from dpsql.errors import ExecutionFailed

Ticket = Future[None]
"""One statement's turn in the queue; the future is done once the statement is admitted."""


class AdmissionQueue:
    """Admits at most `size` statements at once, no two with a key in common; the others wait."""

    def __init__(self, size: int) -> None:
        self._guard = threading.Lock()
        self._size = size
        self._inside: list[frozenset[str]] = []
        self._waiting: dict[Ticket, frozenset[str]] = {}

    @property
    def waiting(self) -> int:
        """How many statements wait."""
        return len(self._waiting)

    @contextmanager
    def acquire(self, ticket: Ticket, keys: frozenset[str]) -> Iterator[None]:
        """Wait until the statement with `keys` is admitted, which it is until the block ends.

        Raises ExecutionFailed if `ticket` was cancelled by then.
        """
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
        """Stop waiting for `ticket`; a statement that is admitted already stays so."""
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
