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
from dpsql.session.compile.compiled import Prepared

MOST = 64
"""Answers that are remembered."""

MOST_BYTES = 32 * 2**20
"""What they may hold together."""

View = Callable[[Sequence[str]], Sequence[bytes]]
"""The ledger's answers of these keys, for a reader who has paid for them, or pays now."""


@dataclass(frozen=True, slots=True)
class Given:
    """The answer of `prepared`, and the stored releases that it was made of, by their keys."""

    prepared: Prepared
    answer: Answer
    stored: Mapping[str, bytes]

    @property
    def size(self) -> int:
        """Bytes held."""
        return int(self.answer.table.nbytes) + sum(map(len, self.stored.values()))


class Recall:
    """The last answers, by the statements that they are of."""

    def __init__(self) -> None:
        # A statement that is remembered is held, so that its id stays its own.
        self._given: OrderedDict[int, Given] = OrderedDict()
        self._size = 0

    def add(self, prepared: Prepared, answer: Answer, stored: Mapping[str, bytes]) -> None:
        """`answer` is that of `prepared`, made of the releases `stored` in the ledger."""
        self._forget(id(prepared))
        given = Given(prepared, answer, stored)
        if given.size > MOST_BYTES:
            return
        self._given[id(prepared)] = given
        self._size += given.size
        while len(self._given) > MOST or self._size > MOST_BYTES:
            self._forget(next(iter(self._given)))

    def answer(self, prepared: Prepared, view: View) -> Answer | None:
        """What `prepared` was answered, free now; None if that isn't known, or not stored so."""
        given = self._given.get(id(prepared))
        if given is None:
            return None
        if list(view(list(given.stored))) != list(given.stored.values()):
            self._forget(id(prepared))
            return None
        self._given.move_to_end(id(prepared))
        free = replace(
            given.answer.privacy, loss=None, epsilon=Fraction(0), stored=True, receipt=None
        )
        return replace(given.answer, privacy=free)

    def _forget(self, number: int) -> None:
        given = self._given.pop(number, None)
        if given is not None:
            self._size -= given.size
