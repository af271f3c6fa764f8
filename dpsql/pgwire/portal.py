"""Prepared statements, and answers that are read in parts: the price is paid once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from dpsql.pgwire.codec.oid import Column
from dpsql.pgwire.codec.parameter import Bound
from dpsql.pgwire.sql.commands import Command
from dpsql.pgwire.sql.translate import Translated

Rows = Sequence[Sequence[object]]


@dataclass(frozen=True, slots=True)
class Answer:
    """Columns and rows that may leave, and the notices that go with them."""

    columns: tuple[Column, ...]
    rows: Rows = field(repr=False)
    notices: tuple[dict[str, str], ...] = ()


@dataclass(slots=True)
class Statement:
    """A prepared statement: its command, and of a query both dialects and its parameters' types.

    `columns` are kept once they were told: what comes later has to fit them.
    """

    command: Command
    query: Translated | None
    types: tuple[int, ...]
    start: int = 0
    columns: tuple[Column, ...] | None = None


@dataclass(slots=True)
class Portal:
    """A statement with its parameters' values, and how far its answer was read."""

    statement: Statement
    parameters: dict[str, Bound] = field(default_factory=dict, repr=False)
    formats: tuple[int, ...] = ()
    hold: bool = False
    columns: tuple[Column, ...] | None = None
    answer: Answer | None = None
    read: int = 0
    done: bool = False

    def take(self, count: int | None) -> Rows:
        """The next `count` rows of the answer, None for all that are left."""
        assert self.answer is not None
        end = len(self.answer.rows) if count is None else self.read + count
        found = self.answer.rows[self.read : end]
        self.read += len(found)
        return found

    @property
    def is_exhausted(self) -> bool:
        """All rows were read."""
        return self.answer is not None and self.read >= len(self.answer.rows)

    def format(self, index: int) -> int:
        """The format of a column: one for all, or one for each."""
        if not self.formats:
            return 0
        return self.formats[index] if len(self.formats) > 1 else self.formats[0]
