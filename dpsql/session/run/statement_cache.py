"""Statements that were bound before: a description and the answer that follows it bind once."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Final

from dpsql.bind.statement import Statement
from dpsql.bind.syntax.parameter import Parameters
from dpsql.plan.operator import PublicStatement

MAX_STATEMENTS: Final = 64
"""Statements that one session remembers."""

MAX_CHARACTERS: Final = 2**20
"""Characters of all their texts together."""


def may_be_remembered(statement: Statement) -> bool:
    """Whether its text decides `statement`, now and for as long as the schema is.

    It isn't all that decides one that reads the clock, kept tables, whose names may mean others by
    the next time, or rows of public tables, of which statements that run whole are made.
    """
    is_whole = isinstance(statement.plan, PublicStatement)
    return not (statement.reads_clock or is_whole or statement.names_release)


class StatementCache:
    """The last statements over one schema, by their texts and their parameters' values."""

    def __init__(self, size: int = MAX_STATEMENTS) -> None:
        self._guard = threading.Lock()
        self._size = size
        self._bound: OrderedDict[Hashable, tuple[int, Statement]] = OrderedDict()
        self._characters = 0

    def get(self, sql: str, parameters: Parameters) -> Statement | None:
        """What `sql` was bound to with these `parameters`; None if that isn't known."""
        key = _key(sql, parameters)
        with self._guard:
            known = self._bound.get(key)
            if known is None:
                return None
            self._bound.move_to_end(key)
            return known[1]

    def add(self, sql: str, parameters: Parameters, statement: Statement) -> None:
        """`sql` with these `parameters` is `statement`, which may be remembered."""
        with self._guard:
            self._forget(_key(sql, parameters))
            self._bound[_key(sql, parameters)] = len(sql), statement
            self._characters += len(sql)
            while len(self._bound) > self._size or self._characters > MAX_CHARACTERS:
                self._forget(next(iter(self._bound)))

    def _forget(self, key: Hashable) -> None:
        known = self._bound.pop(key, None)
        if known is not None:
            self._characters -= known[0]


def _key(sql: str, parameters: Parameters) -> Hashable:
    return sql, tuple(sorted(parameters.items()))
