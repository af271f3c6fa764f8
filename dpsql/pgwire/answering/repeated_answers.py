"""Answers as the bytes that a client was sent, sent again while nothing that decides them changed.

Whoever asks the same again gets what the long way would make anew: it would stat the files, ask the
ledger, make rows of a table and bytes of the rows. All that these depend on beside the statement is
in a `State`: the minute, of which now() is made; the data and what was prepared of them; and the
ledger, whose every commit, by whatever process, makes another state. The state is read before an
answer is made, and again before its bytes are sent: if both are equal, nothing was charged, shown,
kept or dropped in between, so that who had paid has paid, and the notice has the budget that is
left. A cache belongs to one edition of the schema; the analyst and what they SET are in the key.
"""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Final

from msgspec import Struct

from dpsql.pgwire.codec.oid import Column
from dpsql.pgwire.sql.translate import Translated
from dpsql.session.compile.compiled import CompiledStatement

MAX_ANSWERS: Final = 2048
MAX_STATEMENTS: Final = 256
"""Different ones: each may list a great many group keys."""
MAX_BYTES: Final = 32 * 2**20
"""Of all answers of one edition of the schema together, with the trees of their queries."""

_LARGEST: Final = 64 * 1024
"""Bytes of one answer: to send more takes others' time on the event loop."""

_OVERHEAD: Final = 1024
"""Bytes of an answer's key, about."""

_OF_A_CHARACTER: Final = 100
"""Bytes of a query's tree for each character of its text, about."""

State = tuple[int, object, int]
"""The minute, the data and the ledger, on which answers depend beside who asks what."""


@dataclass(frozen=True, slots=True)
class SentAnswer:
    """The messages that answered a statement: `rows` rows of `columns`, and what is around them."""

    messages: bytes = field(repr=False)
    columns: tuple[Column, ...]
    rows: int


class RepeatedAnswer(Struct, frozen=True):
    """What was `sent` in `state`, for what the session had compiled as `statement`.

    `query` is held so that its id, which is in the key, stays its own.
    """

    state: State
    sent: SentAnswer
    statement: CompiledStatement
    query: Translated

    @property
    def size(self) -> int:
        """Bytes held, about; a tree that several answers hold is counted for each."""
        tree = _OF_A_CHARACTER * len(self.query.written)
        return len(self.sent.messages) + tree + _OVERHEAD


class RepeatedAnswers:
    """The last answers over one edition of the schema, which all its connections share."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._answers: OrderedDict[Hashable, RepeatedAnswer] = OrderedDict()
        self._statements: Counter[int] = Counter()
        self._size = 0

    def get(self, key: Hashable, state: State | None) -> RepeatedAnswer | None:
        """What was answered to `key` in `state`; None if that, or the state, is unknown."""
        with self._guard:
            known = self._answers.get(key)
            if known is None:
                return None
            if known.state != state:
                self._forget(key)
                return None
            self._answers.move_to_end(key)
        return known

    def add(self, key: Hashable, answer: RepeatedAnswer) -> None:
        """Remember `answer`, unless it is a large one."""
        if len(answer.sent.messages) > _LARGEST:
            return
        with self._guard:
            self._forget(key)
            self._answers[key] = answer
            self._statements[id(answer.statement)] += 1
            self._size += answer.size
            while self._is_full:
                self._forget(next(iter(self._answers)))

    def __len__(self) -> int:
        return len(self._answers)

    def _forget(self, key: Hashable) -> None:
        known = self._answers.pop(key, None)
        if known is not None:
            self._size -= known.size
            statement = id(known.statement)
            self._statements[statement] -= 1
            if not self._statements[statement]:
                del self._statements[statement]

    @property
    def _is_full(self) -> bool:
        statements, answers = len(self._statements), len(self._answers)
        return statements > MAX_STATEMENTS or answers > MAX_ANSWERS or self._size > MAX_BYTES
