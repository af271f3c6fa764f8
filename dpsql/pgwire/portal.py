"""Prepared statements, and portals, whose answers are charged once and read in parts."""

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
    """Columns and rows that are released, and the fields of the notices sent before them."""

    columns: tuple[Column, ...]
    rows: Rows = field(repr=False)
    notices: tuple[dict[str, str], ...] = ()


@dataclass(slots=True)
class Statement:
    """A prepared statement.

    `query` is its text in both dialects, None unless it is a query; `types` are the OIDs of its
    parameters. It begins at character `start` of the client's text. `columns` are those that the
    client was told by a Describe, None before: rows that come later have to fit them.
    """

    command: Command
    query: Translated | None
    types: tuple[int, ...]
    start: int = 0
    columns: tuple[Column, ...] | None = None


@dataclass(slots=True)
class Portal:
    """A statement with its parameters' values by number, and how far its answer was read.

    `formats` are those of the columns: one for all, one for each, or none for text. `hold`: a
    cursor WITH HOLD. `columns` and `answer` are None until they are described and run. `read` rows
    of the answer were sent.
    """

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
        rows = self.answer.rows[self.read : end]
        self.read += len(rows)
        return rows

    @property
    def is_exhausted(self) -> bool:
        """Whether all rows were read."""
        return self.answer is not None and self.read >= len(self.answer.rows)

    def format(self, index: int) -> int:
        """The format of the column at `index`, counted from 0: 0 for text, 1 for binary."""
        if not self.formats:
            return 0
        return self.formats[index] if len(self.formats) > 1 else self.formats[0]
