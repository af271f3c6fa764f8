"""Answers that were given before: neither read from bytes nor finished again.

A statement is known by its text, parameters, options and the edition of the data, before it is
parsed (`PlanCache`). The ledger is asked as ever: whether the reader has paid for what is stored,
and for its bytes. Only if they are the very ones that the answer was made of is it given again;
where, say, another session's draw was kept instead of this one's, the statement goes the long way.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache, partial

from msgspec import Struct

from dpsql.session.answer.answer import Answer, AnswerDetails, Privacy
from dpsql.session.compile.compiled import CompiledStatement
from dpsql.structs import replace

MAX_ANSWERS = 64
"""Answers that one session remembers."""

MAX_BYTES = 32 * 2**20
"""What they may hold together."""

View = Callable[[Sequence[str]], Sequence[bytes]]
"""The ledger's answers of these keys, for a reader who has paid for them, or pays now."""


class CachedAnswer(Struct, frozen=True):
    """The answer of `statement`, and the stored releases that it was made of, by their keys.

    `size` are the bytes that it holds.
    """

    statement: CompiledStatement
    answer: Answer
    stored: Mapping[str, bytes]
    size: int


class AnswerCache:
    """The last answers, by the statements that they are of; sessions that share plans share it."""

    def __init__(self, answers: int = MAX_ANSWERS) -> None:
        self._guard = threading.Lock()
        self._answers = answers
        # A statement that is remembered is held, so that its id stays its own.
        self._cached: OrderedDict[int, CachedAnswer] = OrderedDict()
        self._size = 0

    def add(self, compiled: CompiledStatement, answer: Answer, stored: Mapping[str, bytes]) -> None:
        """`answer` is that of `compiled`, made of the releases `stored` in the ledger."""
        # What is released is held as its bytes and, for its errors, as a table; what the answer
        # holds are whole buffers, of which a LIMIT shows a part.
        size = answer.table.get_total_buffer_size() + 2 * sum(map(len, stored.values()))
        entry = CachedAnswer(compiled, answer, stored, size)
        with self._guard:
            self._forget(id(compiled))
            if entry.size > MAX_BYTES:
                return
            self._cached[id(compiled)] = entry
            self._size += entry.size
            while len(self._cached) > self._answers or self._size > MAX_BYTES:
                self._forget(next(iter(self._cached)))

    def answer(self, compiled: CompiledStatement, view: View) -> Answer | None:
        """What `compiled` was answered, free now; None if that isn't known, or not stored so."""
        with self._guard:
            entry = self._cached.get(id(compiled))
            if entry is None:
                return None
            self._cached.move_to_end(id(compiled))
        # Each reader is asked for: who hasn't seen it yet, pays for a look.
        if list(view(list(entry.stored))) != list(entry.stored.values()):
            with self._guard:
                if self._cached.get(id(compiled)) is entry:
                    self._forget(id(compiled))
            return None
        return replace(entry.answer, details=cache(partial(_free, entry.answer)))

    def _forget(self, number: int) -> None:
        entry = self._cached.pop(number, None)
        if entry is not None:
            self._size -= entry.size


def _free(answer: Answer) -> AnswerDetails:
    """What is told beside `answer` where it is given again."""
    details = answer.details()
    cost = replace(details.cost, loss=None, epsilon=Fraction(0), stored=True)

    def describe() -> Privacy:
        own = details.privacy
        return replace(own, loss=None, epsilon=Fraction(0), stored=True, receipt=None)

    return AnswerDetails(cost, cache(describe), details.clamped)
