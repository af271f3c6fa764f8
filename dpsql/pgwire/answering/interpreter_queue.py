"""Statements that wait for the interpreter in the order in which they came, not all at once.

Threads share one interpreter. Where fifty translate and prove at the same time, each is interrupted
by the others after a millisecond, all of them end late, and those that are charged wait for a share
of it at each step of the ledger. One after the other they end sooner, and what one has translated
or proved, the next one finds.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Final

from dpsql.ledger.storage.waiting import check_may_wait
from dpsql.session.compile.compiled import CompiledStatement
from dpsql.session.compile.plan_cache import PlanCache

LONG_SECONDS: Final = 0.1
"""Who takes longer, as for a proof of very many columns or a look at the data, is passed by."""

PATIENCE_SECONDS: Final = 0.5
"""Who has waited so long goes on beside others: nobody's time may depend on one of them."""


class InterpreterQueue:
    """Lets one thread compute at a time, as a rule; nothing depends on it but time."""

    def __init__(self, patience: float = PATIENCE_SECONDS) -> None:
        self._patience = patience
        self._guard = threading.Lock()
        self._inside: threading.Lock | None = None
        self._since = 0.0
        self._waiting: deque[threading.Lock] = deque()

    @property
    def waiting(self) -> int:
        """How many threads wait."""
        return len(self._waiting)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait until those before have computed; who comes next waits until the block ends."""
        check_may_wait()
        own = threading.Lock()
        own.acquire()
        with self._guard:
            self._waiting.append(own)
            if self._inside is None or time.monotonic() - self._since > LONG_SECONDS:
                self._let_in()
        own.acquire(timeout=self._patience)
        try:
            yield
        finally:
            with self._guard:
                if own in self._waiting:
                    self._waiting.remove(own)
                elif self._inside is own:
                    self._let_in()

    def _let_in(self) -> None:
        self._inside, self._since = None, time.monotonic()
        if self._waiting:
            self._inside = self._waiting.popleft()
            self._inside.release()


class QueuedPlans(PlanCache):
    """Plans of all sessions over one edition of the schema, compiled one after the other."""

    def __init__(self, queue: InterpreterQueue, size: int) -> None:
        super().__init__(size=size)
        self._queue = queue

    def get(
        self, key: Hashable, compile_statement: Callable[[], CompiledStatement]
    ) -> CompiledStatement:
        """As of `PlanCache`; who finds the plan there doesn't wait for others to compile."""

        def compiled() -> CompiledStatement:
            with self._queue.turn():
                return compile_statement()

        return super().get(key, compiled)
