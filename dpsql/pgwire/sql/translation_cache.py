"""Queries that were translated before: the same text over the same schema is read once.

A translation is decided by the text, the types that the client declares, the schema, and, of some,
the tables that analysts keep. A cache belongs to one edition of the schema, and the rest is in its
keys, so that neither a file that was edited nor a name that means another table by now can be
answered from it. What was refused isn't remembered: it is read, and refused, each time.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from dpsql.pgwire.sql.statement_shape import Shape
from dpsql.pgwire.sql.translate import Translated
from dpsql.structs import replace

MAX_QUERIES: Final = 512
"""Queries that are remembered."""

MAX_CHARACTERS: Final = 512 * 1024
"""Characters of all their texts together: a tree takes a hundred times the memory of its text."""

MAX_SHAPES: Final = 128
"""Shapes of statements that are remembered, each with one statement's tree."""

Saved = tuple[int, ...] | None
"""The entries of the kept tables that a query may name; None where it can name none of them."""

_ShapeKey = tuple[str, tuple[int, ...]]


class ReadQuery(Struct, frozen=True):
    """A query in both dialects, and its parameters' types as OIDs.

    `saved` are the kept tables of the time, None where they decide nothing of it.
    """

    query: Translated
    types: tuple[int, ...]
    saved: Saved = None


class TranslationCache:
    """The last queries over one edition of the schema, which all its connections share."""

    def __init__(self, declared: Iterable[str]) -> None:
        """`declared` are the names of the schema's own tables."""
        self.declared = frozenset(name.casefold() for name in declared)
        self._guard = threading.Lock()
        self._read: OrderedDict[tuple[str, tuple[int, ...]], ReadQuery] = OrderedDict()
        self._characters = 0
        self._shapes: OrderedDict[_ShapeKey, ReadQuery | None] = OrderedDict()

    def get(self, written: str, types: tuple[int, ...]) -> ReadQuery | None:
        """What `written` was read as, with parameters declared to be of `types`; None if unknown.

        Whether the kept tables are still its `saved` ones is the caller's to compare.
        """
        with self._guard:
            known = self._read.get((written, types))
            if known is not None:
                self._read.move_to_end((written, types))
        return known

    def add(self, written: str, types: tuple[int, ...], read: ReadQuery) -> None:
        """Remember `read`; its tree is nobody's to change from now on."""
        if read.query.refused is not None or len(written) > MAX_CHARACTERS:
            return
        with self._guard:
            self._forget((written, types))
            self._read[written, types] = read
            self._characters += len(written)
            while len(self._read) > MAX_QUERIES or self._characters > MAX_CHARACTERS:
                self._forget(next(iter(self._read)))

    def of_shape(self, shape: Shape, written: str) -> ReadQuery | None:
        """What `written`, which has `shape`, is read as by what was learned of the shape."""
        with self._guard:
            known = self._shapes.get(_key_of(shape))
            if known is None:
                return None
            self._shapes.move_to_end(_key_of(shape))
        query = known.query
        sql = shape.written_out(query.sql)
        return replace(known, query=replace(query, written=written, sql=sql, is_of_shape=True))

    def is_new(self, shape: Shape) -> bool:
        """Whether `shape` wasn't asked for before; it was from now on."""
        with self._guard:
            if _key_of(shape) in self._shapes:
                return False
            self._shapes[_key_of(shape)] = None
            if len(self._shapes) > MAX_SHAPES:
                self._shapes.popitem(last=False)
            return True

    def learn(self, shape: Shape, read: ReadQuery) -> None:
        """Remember what every statement of `shape` is read as: `read`, with its own constants."""
        with self._guard:
            if _key_of(shape) in self._shapes:
                self._shapes[_key_of(shape)] = read

    def __len__(self) -> int:
        return len(self._read)

    def _forget(self, key: tuple[str, tuple[int, ...]]) -> None:
        if self._read.pop(key, None) is not None:
            self._characters -= len(key[0])


def _key_of(shape: Shape) -> _ShapeKey:
    return shape.text, shape.types
