"""Prepared statements, and portals, whose answers are charged once and read in parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from msgspec import Struct

from dpsql.pgwire.codec.oid import Column
from dpsql.pgwire.codec.parameter import Bound
from dpsql.pgwire.error_response import OnlyForward
from dpsql.pgwire.sql.commands import Command, Query
from dpsql.pgwire.sql.cursor_statement import Direction
from dpsql.pgwire.sql.translate import Translated

Rows = Sequence[Sequence[object]]


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Answer:
    """Columns and rows that are released, and the fields of the notices sent before them.

    `size` are the bytes of its rows in Arrow; where they are a part of another's, it is held, too.
    """

    columns: tuple[Column, ...]
    rows: Rows = field(repr=False)
    notices: tuple[dict[str, str], ...] = ()
    size: int = 0
    part_of: Answer | None = field(default=None, repr=False)


class Statement(Struct):
    """A prepared statement.

    `query` is its text in both dialects, None unless it is a query or declares a cursor over one;
    `types` are the OIDs of its parameters. It begins at character `start` of the client's text.
    `columns` are those that the client was told by a Describe, None before: rows that come later
    have to fit them.
    """

    command: Command
    query: Translated | None
    types: tuple[int, ...]
    start: int = 0
    columns: tuple[Column, ...] | None = None

    @property
    def is_query(self) -> bool:
        """Whether it is a query, which is answered when it is run."""
        return isinstance(self.command, Query) and self.query is not None


@dataclass(slots=True)
class Portal:
    """A statement with its parameters' values by number, and how far its answer was read.

    `formats` are those of the columns: one for all, one for each, or none for text. `hold`: a
    cursor WITH HOLD; `goes_back`: one that isn't NO SCROLL; `binary`: one whose rows are binary
    where a simple query fetches them. `columns` and `answer` are None until they are described and
    run. `read` rows of the answer were sent; of a cursor it is the number of the row it is at, one
    more than there are behind the last.
    """

    statement: Statement
    parameters: dict[str, Bound] = field(default_factory=dict, repr=False)
    formats: tuple[int, ...] = ()
    hold: bool = False
    goes_back: bool = True
    binary: bool = False
    columns: tuple[Column, ...] | None = None
    answer: Answer | None = None
    read: int = 0

    def take(self, count: int | None) -> Rows:
        """The next `count` rows of the answer, None for all that are left."""
        assert self.answer is not None
        end = len(self.answer.rows) if count is None else self.read + count
        rows = self.answer.rows[self.read : end]
        self.read += len(rows)
        return rows

    def fetched(self, direction: Direction, count: int | None) -> Rows:
        """The rows that a FETCH of the cursor moves over; `OnlyForward` if it can't go there."""
        assert self.answer is not None
        rows, at = self.answer.rows, self.read
        behind = len(rows) + 1
        match direction:
            case Direction.FORWARD | Direction.BACKWARD if count == 0:
                to = at
            case Direction.FORWARD:
                to = behind if count is None else min(at + count, behind)
                self.read = to
                return rows[at:to]
            case Direction.BACKWARD:
                to = 0 if count is None else max(at - count, 0)
                self._move(to)
                return list(rows[max(to, 1) - 1 : max(at, 1) - 1])[::-1]
            case Direction.ABSOLUTE:
                to = (count or 0) if (count or 0) >= 0 else behind + (count or 0)
            case _:
                to = at + (count or 0)
        self._move(min(max(to, 0), behind))
        return rows[self.read - 1 : self.read] if 0 < self.read < behind else rows[:0]

    def _move(self, to: int) -> None:
        if to < self.read and not self.goes_back:
            raise OnlyForward("the cursor only goes forward", hint="declare it as SCROLL CURSOR")
        self.read = to

    def format(self, index: int) -> int:
        """The format of the column at `index`, counted from 0: 0 for text, 1 for binary."""
        if not self.formats:
            return 0
        return self.formats[index] if len(self.formats) > 1 else self.formats[0]
