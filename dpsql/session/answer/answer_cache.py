"""Answers that this session gave before: neither read from bytes nor finished again.

A statement is known by its text, parameters, ε, settings and the edition of the data, before it is
parsed (`plans`). The ledger is asked as ever: whether the reader has paid for what is stored, and
for its bytes. Only if they are the very ones that the answer was made of is it given again; where,
say, another session's draw was kept instead of this one's, the statement goes the long way.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dpsql.session.answer.answer import Answer
from dpsql.session.compile.compiled import CompiledStatement

MAX_ANSWERS = 64
"""Answers that are remembered."""

MAX_BYTES = 32 * 2**20
"""What they may hold together."""

View = Callable[[Sequence[str]], Sequence[bytes]]
"""The ledger's answers of these keys, for a reader who has paid for them, or pays now."""


@dataclass(frozen=True, slots=True)
class CachedAnswer:
    """The answer of `statement`, and the stored releases that it was made of, by their keys."""

    statement: CompiledStatement
    answer: Answer
    stored: Mapping[str, bytes]

    @property
    def size(self) -> int:
        """Bytes held."""
        return int(self.answer.table.nbytes) + sum(map(len, self.stored.values()))


class AnswerCache:
    """The last answers, by the statements that they are of."""

    def __init__(self) -> None:
        # A statement that is remembered is held, so that its id stays its own.
        self._cached: OrderedDict[int, CachedAnswer] = OrderedDict()
        self._size = 0

    def add(self, prepared: CompiledStatement, answer: Answer, stored: Mapping[str, bytes]) -> None:
        """`answer` is that of `prepared`, made of the releases `stored` in the ledger."""
        self._forget(id(prepared))
        given = CachedAnswer(prepared, answer, stored)
        if given.size > MAX_BYTES:
            return
        self._cached[id(prepared)] = given
        self._size += given.size
        while len(self._cached) > MAX_ANSWERS or self._size > MAX_BYTES:
            self._forget(next(iter(self._cached)))

    def answer(self, prepared: CompiledStatement, view: View) -> Answer | None:
        """What `prepared` was answered, free now; None if that isn't known, or not stored so."""
        given = self._cached.get(id(prepared))
        if given is None:
            return None
        if list(view(list(given.stored))) != list(given.stored.values()):
            self._forget(id(prepared))
            return None
        self._cached.move_to_end(id(prepared))
        free = replace(
            given.answer.privacy, loss=None, epsilon=Fraction(0), stored=True, receipt=None
        )
        return replace(given.answer, privacy=free)

    def _forget(self, number: int) -> None:
        given = self._cached.pop(number, None)
        if given is not None:
            self._size -= given.size
