"""DECLARE, FETCH and MOVE: a cursor's query, and where its next rows are."""

from __future__ import annotations

import re
from enum import Enum, auto
from itertools import islice
from typing import Final

from msgspec import Struct

from dpsql.errors import Span, SyntaxFault
from dpsql.sqltext.tokens import Word, words


class Direction(Enum):
    """How a FETCH moves; the count is a row's number with ABSOLUTE and RELATIVE."""

    FORWARD = auto()
    BACKWARD = auto()
    ABSOLUTE = auto()
    RELATIVE = auto()


class Declare(Struct, frozen=True):
    """A cursor over the query `sql`, which begins at character `start` of the statement.

    `binary`: a FETCH that is a simple query gets its rows in binary.
    """

    name: str
    sql: str
    start: int
    hold: bool
    goes_back: bool = True
    binary: bool = False


class Fetch(Struct, frozen=True):
    """`count` rows of a cursor, None for all; MOVE (`moves`) skips them instead."""

    name: str
    count: int | None
    moves: bool = False
    direction: Direction = Direction.FORWARD


_HOLDS: Final[dict[tuple[str, ...], bool]] = {("with", "hold"): True, ("without", "hold"): False}
_OF_CURSORS: Final = frozenset({"binary", "asensitive", "insensitive", "no", "scroll"})
_READ_ONLY: Final = re.compile(r"\s+for\s+read\s+only\s*;?\s*$", re.IGNORECASE)
_FIXED: Final = {
    "next": (Direction.FORWARD, 1),
    "prior": (Direction.BACKWARD, 1),
    "first": (Direction.ABSOLUTE, 1),
    "last": (Direction.ABSOLUTE, -1),
}
_COUNTED: Final = {
    "forward": Direction.FORWARD,
    "backward": Direction.BACKWARD,
    "absolute": Direction.ABSOLUTE,
    "relative": Direction.RELATIVE,
}


def read_declare(sql: str) -> Declare:
    """The cursor that `sql` declares; `SyntaxFault` if it isn't written so."""
    _, name, *rest = islice(words(sql), 16)
    options = []
    while rest and rest[0].folded in _OF_CURSORS:
        options.append(rest[0].folded)
        rest = rest[1:]
    hold = _HOLDS.get(tuple(word.folded for word in rest[1:3]))
    expected = ["cursor", "for"] if hold is None else ["cursor", rest[1].folded, "hold", "for"]
    query = rest[len(expected) :]
    if not query or [word.folded for word in rest[: len(expected)]] != expected:
        raise SyntaxFault("DECLARE isn't written so", hint="write DECLARE name CURSOR FOR SELECT …")
    start = query[0].start
    text = _READ_ONLY.sub("", sql[start:])
    return Declare(
        name.name, text, start, bool(hold), "no" not in options, binary="binary" in options
    )


def read_fetch(tokens: list[Word]) -> Fetch:
    """The rows that FETCH or MOVE asks for; `tokens` are its words."""
    rest = [word for word in tokens[1:] if word.text != ";"]
    moves = tokens[0].folded == "move"
    if not rest:
        raise SyntaxFault("FETCH isn't written so", hint="write FETCH 100 FROM name")
    *before, name = rest
    folded = [word.folded for word in before]
    if folded and folded[-1] in {"from", "in"}:
        folded.pop()
    direction, count = _motion(folded, before)
    return Fetch(name.name, count, moves, direction)


def _motion(folded: list[str], before: list[Word]) -> tuple[Direction, int | None]:
    direction, *rest = folded or ["next"]
    if direction in _FIXED and not rest:
        return _FIXED[direction]
    kind = _COUNTED.get(direction)
    number = "".join(rest if kind else folded)
    kind = kind or Direction.FORWARD
    relative = kind in {Direction.FORWARD, Direction.BACKWARD}
    if relative and number in {"", "all"}:
        return kind, None if number else 1
    if not re.fullmatch(r"[+-]?\d{1,9}", number):
        at = Span(before[0].start, before[-1].end)
        raise SyntaxFault("FETCH isn't written so", at=at, hint="write FETCH 100 FROM name")
    count = int(number)
    if relative and count < 0:
        other = Direction.BACKWARD if kind is Direction.FORWARD else Direction.FORWARD
        return other, -count
    return kind, count
